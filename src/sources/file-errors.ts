import { SourceError } from '../core/errors.ts'
import { codeOf } from './missing.ts'

/** Does it, and tells what could not be done in the operator's words. `doing`: "write /opt/x". */
export const telling = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new SourceError({ doing, ...accountOf(error) }, { cause: error })
  }
}

const BY_CODE: Readonly<Record<string, { readonly happened: string; readonly advice?: string }>> = {
  ENOENT: {
    happened: 'there is no such file or folder',
    advice: 'look at the path, and at the one in the configuration',
  },
  ENOTDIR: { happened: 'a part of the path is no folder' },
  EACCES: {
    happened: 'this user may not',
    advice: 'run it as root, or as the owner of the folder',
  },
  EPERM: {
    happened: 'the system does not permit it',
    advice: 'run it as root',
  },
  EROFS: {
    happened: 'the file system can only be read',
    advice: 'use another one, or mount it for writing',
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
  ENOTEMPTY: { happened: 'the folder is not empty' },
  EINVAL: { happened: 'the file system there cannot do this' },
  ENOTSUP: { happened: 'the file system there cannot do this' },
  EOPNOTSUPP: { happened: 'the file system there cannot do this' },
  ENOSYS: { happened: 'the system cannot do this' },
  EISDIR: { happened: 'it is a directory' },
  EXDEV: { happened: 'the two lie on different file systems' },
  ELOOP: { happened: 'it is a symbolic link' },
  EMLINK: { happened: 'the file has too many names' },
}

/** The system's own messages repeat the path; ours names what to do. */
export const accountOf = (
  error: unknown,
): { readonly happened: string; readonly advice?: string } =>
  BY_CODE[codeOf(error)] ?? {
    happened: error instanceof Error && !('code' in error) ? error.message : codeOf(error),
  }
