#!/bin/bash
# A job of a campaign. Its working directory is the campaign's folder; its arguments say what it does:
#
#   sbatch --array=1-8 --job-name=work slurm/job.sh work .
#   sbatch --dependency=afterany:NUMBER --job-name=finish slurm/job.sh run .
#
# Edit what your cluster needs. Words in double braces are filled in when jobs are submitted.
# A line with two # at its beginning is not read; take one away and put in your own value.
#SBATCH --cpus-per-task={{ threads }}
##SBATCH --account=NAME
##SBATCH --partition=NAME
##SBATCH --time=04:00:00
##SBATCH --mem-per-cpu=2G
#SBATCH --output=slurm/%x-%j.log
#SBATCH --open-mode=append
# a job of a lost node goes back into the queue
#SBATCH --requeue
# two minutes before its time limit a job ends in order and goes back into the queue
#SBATCH --signal=B:USR1@120

# module load ...

{{ flitwise }} campaign "$@" --threads "${SLURM_CPUS_PER_TASK:-1}" &
work=$!
is_over_time=no
trap 'kill -TERM $work' TERM
trap 'is_over_time=yes; kill -TERM $work' USR1
wait $work
code=$?
# a signal ends the wait, not the work
while kill -0 $work 2>/dev/null; do
    wait $work
    code=$?
done
# what takes longer than that needs a longer time limit
if [ $is_over_time = yes ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
