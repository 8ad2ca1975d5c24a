/** The secrets of the node: two keystores, the environment file with their password, and a backup of each. */
export const KEY_FILES = [
  'secp',
  'bls',
  'password',
  'secp-backup',
  'bls-backup',
  'password-backup',
] as const

export type KeyFileName = (typeof KEY_FILES)[number]
export type Keys = Readonly<Record<KeyFileName, KeyFile>>

/** How it stands with the file of one secret. */
export interface KeyFile {
  /** `cut`: what is left where writing it failed. */
  readonly content: 'whole' | 'cut' | 'empty' | 'gone'
  readonly mode: number
  readonly writtenMs: number
  /** Earlier ones that were renamed, to keep them beside it. */
  readonly rotated: readonly Rotated[]
}

export interface Rotated extends Pick<KeyFile, 'mode' | 'writtenMs'> {
  readonly atMs: number
}

const PRIVATE = 0o600
/** What a redirection makes of a file under the usual umask. */
const READABLE = 0o644
const MONTH_MS = 30 * 86_400_000

const asInstalled = (beginMs: number): KeyFile => ({
  content: 'whole',
  mode: PRIVATE,
  writtenMs: beginMs - MONTH_MS,
  rotated: [],
})

export const usualKeys = (beginMs: number): Keys => ({
  secp: asInstalled(beginMs),
  bls: asInstalled(beginMs),
  password: asInstalled(beginMs),
  'secp-backup': asInstalled(beginMs),
  'bls-backup': asInstalled(beginMs),
  'password-backup': asInstalled(beginMs),
})

/** What may befall such a file. */
export const FATES = ['vanishes', 'empties', 'breaks', 'leaks', 'rotates', 'returns'] as const

export const befall = (file: KeyFile, fate: (typeof FATES)[number], atMs: number): KeyFile => {
  switch (fate) {
    case 'vanishes':
      return { ...file, content: 'gone' }
    case 'empties':
      return { ...file, content: 'empty', writtenMs: atMs }
    case 'breaks':
      return { ...file, content: 'cut', writtenMs: atMs }
    case 'leaks':
      return { ...file, mode: READABLE }
    case 'rotates':
      return {
        ...file,
        content: 'whole',
        writtenMs: atMs,
        rotated: [...file.rotated, rotated(file, atMs)],
      }
    case 'returns':
      return { ...file, content: 'whole', mode: PRIVATE, writtenMs: atMs }
  }
}

const rotated = ({ mode, writtenMs }: KeyFile, atMs: number): Rotated => ({ mode, writtenMs, atMs })
