# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of the demo. Wants: a terminal, dir, out, name, length, factor.
set output out
set datafile separator ','
GIB = 2.0**30
set title sprintf("Host memory of a guest that replays %s: %.1f times less on average with Tide", name, factor) noenhanced
set xlabel 'Time in the recording (s)'
set ylabel 'Host Rss of the guest''s RAM, above its value at the start (GiB)'
set xrange [0:length]
set yrange [0:*]
set format y '%.1f'
set grid ytics linecolor rgb '#dddddd' linetype 1
set border 3
set tics nomirror out
set key top left reverse Left
set style fill solid 1.0 noborder
plot dir.'/samples-tide.csv' every ::1 using 2:($6/GIB) with filledcurves y1=0 linecolor rgb '#cfd8dc' title 'live bytes, as recorded', \
     dir.'/samples-none.csv' every ::1 using 2:($3/GIB) with lines linewidth 2 linecolor rgb '#c62828' title 'host Rss without Tide', \
     dir.'/samples-tide.csv' every ::1 using 2:($3/GIB) with lines linewidth 1.5 linecolor rgb '#1565c0' title 'host Rss with Tide'
