import type { Situation } from './situation.ts'

/** Of each secret file of the node, the one state that it is in. */
export const keyFiles = ({ known }: Pick<Situation, 'known'>) =>
  known
    .series('chain_key_file_state')
    .filter(({ value }) => value === 1)
    .map(({ labels: { key = '', kind = '', state = '' } }) => ({ key, kind, state }))

/** None of them, backups neither, is where it was looked for: the node has another directory, or other keys. */
export const areElsewhere = (situation: Pick<Situation, 'known'>): boolean => {
  const files = keyFiles(situation)
  return files.length > 1 && files.every(({ state }) => state === 'missing')
}
