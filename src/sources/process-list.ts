import { readFile } from 'node:fs/promises'

/** Whether other users of the host can read the arguments of our children: null where that is not known. */
export const isProcessListOpen = async (mounts = '/proc/self/mounts'): Promise<boolean | null> => {
  const text = await readFile(mounts, 'utf8').catch(() => undefined)
  const proc = text
    ?.split('\n')
    .map((line) => line.split(' '))
    // Of two that lie on each other the last one is seen.
    .findLast(([, place]) => place === '/proc')
  if (proc === undefined) return null
  const hidden = (proc[3] ?? '').split(',').find((option) => option.startsWith('hidepid='))
  // 1 keeps others from what is in a process, 2 from seeing it at all; newer kernels say it in words.
  return hidden === undefined || ['hidepid=0', 'hidepid=off'].includes(hidden)
}
