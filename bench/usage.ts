import type { SandboxedNode } from '../test/support/sandboxed-node.ts'

/** What the processes of a unit have used. CPU time is in seconds, memory in MiB. */
export interface UnitUsage {
  readonly mainPid: number
  /** Of all processes that the unit has had. */
  readonly cpu: number
  /** Of the main process, in the order of their IDs: the first one is the main thread. */
  readonly threads: readonly { readonly id: number; readonly name: string; readonly cpu: number }[]
  /** By process ID. */
  readonly children: ReadonlyMap<number, number>
  /** The main process, and then each other one. */
  readonly memory: readonly { readonly rss: number; readonly anonymous: number }[]
}

/** One line for each value, read in one shell so that the windows of all units are the same. */
const scriptOf = (units: readonly string[]): string => `set -- $(
    for unit in ${units.join(' ')}; do
      echo "/sys/fs/cgroup$(systemctl show -P ControlGroup $unit):$(systemctl show -P MainPID $unit)"
    done)
  for pair; do
    group=\${pair%:*} main=\${pair##*:}
    echo "unit $main $(sed -n 's/^usage_usec //p' $group/cpu.stat)"
    for task in /proc/$main/task/*; do
      echo "thread \${task##*/} $(cut -d' ' -f1 $task/schedstat) $(cat $task/comm)"
    done
    for pid in $(cat $group/cgroup.procs); do
      [ $pid = $main ] || echo "child $pid $(cut -d' ' -f1 /proc/$pid/schedstat)"
    done
    for pid in $main $(grep -vx $main $group/cgroup.procs); do
      echo memory $(sed -nE 's/^(Rss|Anonymous): +([0-9]+) kB$/\\2/p' /proc/$pid/smaps_rollup)
    done
  done 2> /dev/null`

/** Reads the output of the script: a block for each unit. A process that ends meanwhile has no numbers. */
export const parseUsage = (output: string): readonly UnitUsage[] =>
  output
    .trim()
    .split(/^(?=unit )/m)
    .map((block) => {
      const lines = block.split('\n').map((line) => line.split(' '))
      const valuesOf = (kind: string): readonly (readonly string[])[] =>
        lines.flatMap(([first, ...values]) => (first === kind && (values[1] ?? '') !== '' ? [values] : []))
      const [[mainPid, microseconds] = []] = valuesOf('unit')
      return {
        mainPid: Number(mainPid),
        cpu: Number(microseconds) / 1e6,
        threads: valuesOf('thread')
          .map(([id, nanoseconds, ...name]) => ({
            id: Number(id),
            name: name.join(' '),
            cpu: Number(nanoseconds) / 1e9,
          }))
          .toSorted((one, other) => one.id - other.id),
        children: new Map(valuesOf('child').map(([pid, nanoseconds]) => [Number(pid), Number(nanoseconds) / 1e9])),
        memory: valuesOf('memory').map(([rss, anonymous]) => ({
          rss: Number(rss) / 1024,
          anonymous: Number(anonymous) / 1024,
        })),
      }
    })

/** What a unit has used between two readings; memory is that of the later one. */
export interface UsedBetween {
  readonly cpu: number
  readonly memory: UnitUsage['memory']
  /**
   * The CPU time by part. `v8Workers` is the size of V8's thread pool, for versions of Node.js that do not name their
   * threads.
   */
  readonly parts: (v8Workers: number) => Readonly<Record<string, number>>
}

/** Throws if the main process is another one: its threads cannot be compared. */
export const usedBetween = (before: UnitUsage, after: UnitUsage): UsedBetween => {
  if (before.mainPid !== after.mainPid) {
    throw new Error(`a unit restarted while it was measured: process ${before.mainPid}, then ${after.mainPid}`)
  }
  const cpu = after.cpu - before.cpu
  return {
    cpu,
    memory: after.memory,
    parts: (v8Workers) => {
      const threads = after.threads.map((thread, index) => ({
        part: partOf(after.threads, index, v8Workers),
        cpu: thread.cpu - (before.threads.find(({ id }) => id === thread.id)?.cpu ?? 0),
      }))
      const sumOf = (part: string): number => sum(threads.map((thread) => (thread.part === part ? thread.cpu : 0)))
      const children = sum([...after.children].map(([pid, used]) => used - (before.children.get(pid) ?? used)))
      return {
        'main thread': sumOf('main'),
        'V8 workers': sumOf('V8'),
        'other threads': sumOf('other'),
        'living children': children,
        // The readings are some milliseconds apart.
        'short-lived children': Math.max(0, cpu - sum(threads.map((thread) => thread.cpu)) - children),
      }
    },
  }
}

/** Node.js 20 names no thread: there, V8's thread of delayed tasks is the second one, and its pool comes next. */
const partOf = (threads: UnitUsage['threads'], index: number, v8Workers: number): 'main' | 'V8' | 'other' => {
  if (index === 0) return 'main'
  const isNamed = threads.some(({ name }) => name === 'V8Worker')
  const isWorker = isNamed ? threads[index]?.name === 'V8Worker' : index >= 2 && index < 2 + v8Workers
  return isWorker ? 'V8' : 'other'
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const readUsage = async (node: SandboxedNode, units: readonly string[]): Promise<readonly UnitUsage[]> =>
  parseUsage((await node.exec('sh', ['-c', scriptOf(units)])).stdout)

/** What each unit used during `work`. */
export const usageDuring = async (
  node: SandboxedNode,
  units: readonly string[],
  work: () => Promise<unknown>,
): Promise<readonly UsedBetween[]> => {
  const before = await readUsage(node, units)
  await work()
  const after = await readUsage(node, units)
  return before.flatMap((usage, index) => (after[index] === undefined ? [] : [usedBetween(usage, after[index])]))
}
