import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const MOST_BYTES = 64 * 1024

/** All of a small file. `isNamed`: the operator has named it, and a pipe is well, too; we wait for its end. */
export const readWhole = async (
  path: string,
  { isNamed }: { readonly isNamed: boolean },
): Promise<Buffer> => {
  // Not blocking: a pipe in the place of a file that nobody has named would hold us for ever.
  const flags = isNamed ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK
  const handle = await open(path, flags)
  try {
    const facts = await handle.stat()
    const isPipe = isNamed && (facts.isFIFO() || facts.isCharacterDevice())
    if (!facts.isFile() && !isPipe) throw new Error('it is no file')
    const buffer = Buffer.alloc(MOST_BYTES + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
    throw new Error('it is longer than 64 KiB, and no key file is')
  } finally {
    await handle.close()
  }
}
