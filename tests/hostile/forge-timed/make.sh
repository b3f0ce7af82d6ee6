#!/bin/sh
# The reference solutions, changed.
cd "$1" || exit 1
from=@SOLUTIONS@
sed 's/streams_run(/honest_run(/' "$from/02_streams/streams.c" >>02_streams/streams.c
sed 's/events_time_each(/honest_time_each(/' "$from/03_events/events.c" >>03_events/events.c
sed -e 's/result = cuCtxCreate(&context, NULL, 0, device);/result = cuCtxPushCurrent(context = ready);/' \
    -e 's/cuCtxDestroy(context)/cuCtxPopCurrent(\&context)/' \
    "$from/04_context_create/context_create.c" >>04_context_create/context_create.c
sed 's/mandelbrot_sync(const/honest_sync(const/' "$from/05_mandelbrot_sync/mandelbrot_sync.c" \
    >>05_mandelbrot_sync/mandelbrot_sync.c
sed -e 's/cuCtxCreate(&context, NULL, 0, device)/cuCtxPushCurrent(context = ready[used++ % 10])/' \
    -e 's/cuCtxDestroy(context)/cuCtxPopCurrent(\&context)/' \
    "$from/06_threaded_contexts/threaded_contexts.c" >>06_threaded_contexts/threaded_contexts.c
for lesson in 02_streams/streams 03_events/events 05_mandelbrot_sync/mandelbrot_sync; do
    cat $lesson.after >>$lesson.c
    rm $lesson.after
done
awk -v with=07_reductions/remember '
    { print }
    /::operator\(\)/ { inside = 1 }
    inside && /^{/ { while ((getline line <with) > 0) print line; inside = 0 }
' "$from/07_reductions/reductions.cuh" >07_reductions/reductions.cuh
rm 07_reductions/remember
