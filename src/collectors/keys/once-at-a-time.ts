import type { KeyFiles } from '../../sources/key-files.ts'

/**
 * Asks nothing of a path that has not answered yet: a file system that hangs holds a thread for each
 * question, and all of the agent's files share a few of them.
 */
export const onceAtATime = (files: KeyFiles): KeyFiles => {
  const asked = new Set<string>()
  const ask = async <T>(path: string, question: () => Promise<T>): Promise<T | 'waiting'> => {
    if (asked.has(path)) return 'waiting'
    asked.add(path)
    try {
      return await question()
    } finally {
      asked.delete(path)
    }
  }
  return {
    maxBytes: files.maxBytes,
    look: (path) => ask(path, () => files.look(path)),
    read: (path, judge) => ask(path, () => files.read(path, judge)),
    list: (path) => ask(path, () => files.list(path)),
  }
}
