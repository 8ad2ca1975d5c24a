import type { SimulatedNode } from '../subject.ts'
import { ledgerFilesAt, walMegabytesAt } from './host.ts'

interface FileSystem {
  readonly sizeBytes: bigint
  readonly availableBytes: bigint
}

const MEBIBYTE = 1024 * 1024
const SIZE_BYTES = 100 * 1024 * MEBIBYTE
/** System and packages. */
const USED_RATIO = 0.48
/** 30,000 files take 16 % of it: what a node keeps for 600 minutes. */
const LEDGER_FILE_BYTES = 560 * 1024

/** The file system of a directory: ledger and write-ahead log share one, other paths are on that of the system. Null if the directory does not exist. */
export const fileSystemAt =
  (node: SimulatedNode, directories: { readonly ledger: string; readonly wal: string }) =>
  (path: string): FileSystem | null => {
    const { ledger, wal } = node.condition().host
    if (path === directories.wal && !wal.isThere) return null
    const ofNode = Object.values(directories).includes(path)
      ? ledgerFilesAt(ledger, node.now()) * LEDGER_FILE_BYTES + walMegabytesAt(wal, node.now()) * MEBIBYTE
      : 0
    const used = SIZE_BYTES * USED_RATIO + ofNode
    return { sizeBytes: BigInt(SIZE_BYTES), availableBytes: BigInt(Math.round(SIZE_BYTES - used)) }
  }
