/** The name of an error of the system: `EACCES`. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'it failed'

const BY_CODE: Readonly<Record<string, { readonly happened: string; readonly advice?: string }>> = {
  ENOENT: {
    happened: 'there is no such file or directory',
    advice: 'check the path',
  },
  ENOTDIR: { happened: 'a part of the path is not a directory' },
  EACCES: {
    happened: 'permission denied: this user may not access it',
    advice: 'run it as root, or as the owner of the directory',
  },
  EPERM: {
    happened: 'the system does not permit it',
    advice: 'run it as root',
  },
  EROFS: {
    happened: 'the file system is read-only',
    advice: 'use another one, or mount it read-write',
  },
  ENOSPC: { happened: 'the disk is full', advice: 'make room there, and run it again' },
  EDQUOT: {
    happened: 'the quota of the disk is used up',
    advice: 'make room there, and run it again',
  },
  EIO: {
    happened: 'the disk has failed',
    advice: 'look at `dmesg`; use another disk',
  },
  EEXIST: { happened: 'there is such a file already, and none is overwritten' },
  EBUSY: { happened: 'it is in use' },
  ENOTEMPTY: { happened: 'the directory is not empty' },
  EINVAL: { happened: 'the file system there cannot do this' },
  ENOTSUP: { happened: 'the file system there cannot do this' },
  EOPNOTSUPP: { happened: 'the file system there cannot do this' },
  ENOSYS: { happened: 'the system cannot do this' },
  EISDIR: { happened: 'it is a directory' },
  EXDEV: { happened: 'the two are on different file systems' },
  ELOOP: { happened: 'it is a symbolic link' },
  EMLINK: { happened: 'the file has too many hard links' },
}

/** A file error of Node.js in words: its own message repeats the path and shows the errno. */
export const describeFileError = (
  error: unknown,
): { readonly happened: string; readonly advice?: string } =>
  BY_CODE[errorCode(error)] ?? {
    happened: error instanceof Error && !('code' in error) ? error.message : errorCode(error),
  }

/** Whether the error means that the file, its device or its process does not exist. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESRCH', 'ENODATA'].includes(errorCode(error))
