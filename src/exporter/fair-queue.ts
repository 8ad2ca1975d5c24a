interface Task {
  readonly client: string
  /** Among the tasks of one client, and of clients with one task each, those with more are done first. */
  readonly weight: number
}

interface Waiting extends Task {
  readonly start: () => Promise<void>
  readonly leave: () => void
}

interface FairQueueOptions {
  /** Tasks that wait for the one in progress. */
  readonly most: number
  /** Awaited after each task, before the next one starts. */
  readonly pause?: () => Promise<void>
}

/**
 * Does one task at a time, in turn by client. A task for which a full queue has no room leaves it without a result: that
 * of the client with the most waiting tasks, of these one with the least weight, of these the newest.
 */
export const createFairQueue = ({ most, pause = () => Promise.resolve() }: FairQueueOptions) => {
  /** By client, in the order of their turns. None is empty. */
  const waiting = new Map<string, readonly Waiting[]>()
  let isRunning = false

  const remove = (task: Waiting): void => {
    const rest = waiting.get(task.client)?.filter((other) => other !== task) ?? []
    if (rest.length === 0) waiting.delete(task.client)
    else waiting.set(task.client, rest)
  }

  const startNext = async (): Promise<void> => {
    isRunning = true
    for (let [tasks] = waiting.values(); tasks; [tasks] = waiting.values()) {
      const next = tasks.reduce((best, task) => (task.weight > best.weight ? task : best))
      remove(next)
      const rest = waiting.get(next.client)
      if (rest) {
        waiting.delete(next.client)
        waiting.set(next.client, rest)
      }
      await next.start()
      await pause()
    }
    isRunning = false
  }

  const makeRoom = (): void => {
    const lists = [...waiting.values()]
    if (lists.flat().length <= most) return
    const longest = Math.max(...lists.map((tasks) => tasks.length))
    const candidates = lists.filter((tasks) => tasks.length === longest).flat()
    const leaving = candidates.reduce((least, task) => (task.weight <= least.weight ? task : least))
    remove(leaving)
    leaving.leave()
  }

  /** The result of the work; undefined if there was no room. */
  return <T>({ client, weight }: Task, work: () => Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const start = (): Promise<void> => work().then(resolve, reject)
      const leave = (): void => {
        resolve(undefined)
      }
      waiting.set(client, [...(waiting.get(client) ?? []), { client, weight, start, leave }])
      if (isRunning) makeRoom()
      else void startNext()
    })
}
