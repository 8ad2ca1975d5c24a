import type { Kit } from './kit.ts'

/** Names that only a run in progress uses: what lies under one after it is gone, a crash has left. */
export const unfinishedName = (name: string, { pid, mark }: Kit['run']): string =>
  `.${name}.${pid}-${mark}.new`

/** What interrupted runs have left in the folder of this name. */
export const findUnfinished = async (
  { files, run }: Pick<Kit, 'files' | 'run'>,
  folder: string,
  name: string,
): Promise<readonly string[]> => {
  const names = await files.list(folder)
  return names
    .filter((one) => {
      const [, pid] = pattern(name).exec(one) ?? []
      return pid !== undefined && !run.isAlive(Number(pid))
    })
    .map((one) => `${folder}/${one}`)
}

const pattern = (name: string): RegExp => new RegExp(String.raw`^\.${name}\.(\d+)-[0-9a-f]+\.new$`)
