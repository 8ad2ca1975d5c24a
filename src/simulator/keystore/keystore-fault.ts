import { constants } from 'node:os'

/** Why a keystore could not be opened or written, as the tool names it. */
export class KeystoreFault extends Error {
  readonly kind: 'InvalidJSONFormat' | 'KDFError' | 'ChecksumError' | 'FileIOError'
  readonly detail: string

  constructor(kind: KeystoreFault['kind'], detail = '') {
    super(detail === '' ? kind : `${kind}(${detail})`)
    this.kind = kind
    this.detail = detail
  }
}

/** An error of the system as Rust prints it; every other error goes on. */
export const fileFaultOf = (error: unknown): KeystoreFault => {
  if (error instanceof KeystoreFault) return error
  if (!(error instanceof Error) || !('code' in error)) throw error
  const code = String(error.code)
  const number = Object.entries(constants.errno).find(([name]) => name === code)?.[1]
  if (number === undefined) throw error
  const [kind, message] = KINDS[code] ?? ['Uncategorized', 'simulated']
  const detail = `Os { code: ${number}, kind: ${kind}, message: "${message}" }`
  return new KeystoreFault('FileIOError', detail)
}

const KINDS: Readonly<Record<string, readonly [kind: string, message: string]>> = {
  ENOENT: ['NotFound', 'No such file or directory'],
  EACCES: ['PermissionDenied', 'Permission denied'],
  EPERM: ['PermissionDenied', 'Operation not permitted'],
  EISDIR: ['IsADirectory', 'Is a directory'],
  ENOTDIR: ['NotADirectory', 'Not a directory'],
  ENOSPC: ['StorageFull', 'No space left on device'],
  EDQUOT: ['QuotaExceeded', 'Disk quota exceeded'],
  EFBIG: ['FileTooLarge', 'File too large'],
  EROFS: ['ReadOnlyFilesystem', 'Read-only file system'],
}
