/** The system error code: `EACCES`. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'it failed'

const BY_CODE: Readonly<Record<string, { readonly happened: string; readonly advice?: string }>> = {
  ENOENT: {
    happened: 'there is no such file or directory',
    advice: 'check the path',
  },
  ENOTDIR: { happened: 'a part of the path is not a directory' },
  EACCES: {
    happened: 'permission denied: this user may not access it',
    advice: 'run the command as root, or as the owner of the directory',
  },
  EPERM: {
    happened: 'the operation is not permitted',
    advice: 'run the command as root',
  },
  EROFS: {
    happened: 'the file system is read-only',
    advice: 'use another file system, or mount it read-write',
  },
  ENOSPC: { happened: 'the disk is full', advice: 'free space and run the command again' },
  EDQUOT: {
    happened: 'the disk quota is used up',
    advice: 'free space and run the command again',
  },
  EIO: {
    happened: 'the disk has failed',
    advice: 'check `dmesg`; use another disk',
  },
  EEXIST: { happened: 'the file already exists, and files are never overwritten' },
  EBUSY: { happened: 'it is in use' },
  ENOTEMPTY: { happened: 'the directory is not empty' },
  EINVAL: { happened: 'the file system does not support this operation' },
  ENOTSUP: { happened: 'the file system does not support this operation' },
  EOPNOTSUPP: { happened: 'the file system does not support this operation' },
  ENOSYS: { happened: 'the system does not support this operation' },
  EISDIR: { happened: 'it is a directory' },
  EXDEV: { happened: 'the two are on different file systems' },
  ELOOP: { happened: 'it is a symbolic link' },
  EMLINK: { happened: 'the file has too many hard links' },
}

/** Describes a file error of Node.js. Its own message repeats the path and contains the errno. */
export const describeFileError = (error: unknown): { readonly happened: string; readonly advice?: string } =>
  BY_CODE[errorCode(error)] ?? {
    happened: error instanceof Error && !('code' in error) ? error.message : errorCode(error),
  }

/** Whether the error means that the file, its device or its process does not exist. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESRCH', 'ENODATA'].includes(errorCode(error))
