#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# count.pl NAME.tap...: the closing line of `make check`. Counts single results;
# a program that died, ran out of time or kept no plan counts as one failure,
# a program skipped whole as one skip. Exit status 1 unless all of them passed.
use strict;
use warnings;
use TAP::Parser;

my ($passed, $failed, $skipped) = (0, 0, 0);
for my $file (@ARGV) {
	open my $in, '<', $file or die "$file: $!\n";
	my $tap = do { local $/; <$in> // '' };
	if ($tap !~ /\S/) {
		$failed++;
		next;
	}
	my $parser = TAP::Parser->new({ tap => $tap });
	$parser->run;
	(my $status_file = $file) =~ s/\.tap$/.status/;
	my $status = -1;
	if (open my $in_status, '<', $status_file) {
		chomp($status = <$in_status> // -1);
	}
	my $bad = $parser->failed;
	$bad = 1 if !$bad && ($status ne '0' || $parser->parse_errors || $parser->todo_passed);
	$failed += $bad;
	$skipped += $parser->skip_all ? 1 : $parser->skipped;
	$passed += $parser->passed - $parser->skipped;
}
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed || $skipped || !$passed ? 1 : 0);
