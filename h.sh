# args: seed seconds name
cd "$(dirname "$0")"
export PYTHONPATH=src:. PYTHONUNBUFFERED=1
nvidia-smi --query-gpu=name,clocks.max.sm,clocks.max.mem,memory.total --format=csv,noheader
python3 -c "
from evenly.targets.cuda.place import current_device, gpu_of
print(gpu_of(current_device(None).device_id))"
(time timeout 330 python3 -m evenly.cli fit --seconds $2 --seed $1 --times $OUT/$3.csv.gz --out $OUT/$3.toml) > $OUT/fit.log 2>&1
head -12 $OUT/fit.log; tail -30 $OUT/fit.log
