import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { createDiskUsage, createFileTree } from '../../src/sources/file-tree.ts'
import { asOrdinaryUser, probeRoot } from '../support/ordinary-user.ts'
import { requireRealPart } from '../support/real-parts.ts'

const withRoot = await requireRealPart('root', probeRoot)
const { signal } = new AbortController()
let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kernel-test-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
})

describe('small files', () => {
  test('are read up to the limit; a missing file is null', async () => {
    await writeFile(join(root, 'some'), 'abcdef')
    const tree = createFileTree(root)
    expect(await tree.read('some')).toBe('abcdef')
    expect(await tree.read('some', 4)).toBe('abcd')
    expect(await tree.read('none')).toBeNull()
    expect(await tree.read('some/below')).toBeNull()
    expect(await tree.list('.')).toEqual(['some'])
    expect(await tree.list('none')).toBeNull()
    expect(await tree.count('.')).toBe(1)
    expect(await tree.count('none')).toBeNull()
  })
  test('larger than the first read: up to the limit', async () => {
    const text = Array.from({ length: 2000 }, (_, index) => String(index).padStart(5, '.')).join('')
    await writeFile(join(root, 'large'), text)
    const tree = createFileTree(root)
    expect(await tree.read('large')).toBe(text)
    for (const limit of [4095, 4096, 4097, 9000]) expect(await tree.read('large', limit)).toBe(text.slice(0, limit))
  })
  test('of the kernel itself: no size, and yet text', async () => {
    expect(await createFileTree('/proc').read('sys/kernel/osrelease')).toBe(`${release()}\n`)
  })
  test('a directory in place of a file is an error with path and reason', async () => {
    const reading = createFileTree(root).read('.')
    await expect(reading).rejects.toThrow(SourceError)
    await expect(reading).rejects.toThrow(`Could not read ${root}: it is a directory`)
  })
})

withRoot('as an ordinary user', () => {
  test('limits of a process of root are told; its open files by a new kernel alone', async () => {
    const [major = 0, minor = 0] = release().split('.').map(Number)
    const isNew = major > 6 || (major === 6 && minor >= 2)
    const [limits, count] = await asOrdinaryUser(async () => {
      const tree = createFileTree('/proc')
      const counted = tree.count(`${process.ppid}/fd`).catch((error: unknown) => error)
      return [await tree.read(`${process.ppid}/limits`), await counted] as const
    })
    expect(limits).toContain('Max open files')
    if (isNew) expect(count).toBeGreaterThan(2)
    else expect(count).toBeInstanceOf(SourceError)
  })
  test('a home that is closed is an error with advice, not an empty one', async () => {
    await mkdir(join(root, 'home/wal'), { recursive: true })
    await chmod(root, 0o755)
    await chmod(join(root, 'home'), 0o700)
    const space = createDiskUsage()
    const [found, at] = await asOrdinaryUser(async () => [
      await space.fileSystem(join(root, 'home/wal')).catch((error: unknown) => error),
      await space.modifiedAt(join(root, 'home/wal')).catch((error: unknown) => error),
    ])
    expect(found).toBeInstanceOf(SourceError)
    expect(String(found)).toContain("give the agent's user read access")
    expect(at).toBeInstanceOf(SourceError)
  })
})

describe('space', () => {
  test('a file system has a size, of which an ordinary user has a part', async () => {
    const found = await createDiskUsage().fileSystem(root)
    expect(found?.sizeBytes).toBeGreaterThan(found?.availableBytes ?? 0n)
    expect(await createDiskUsage().fileSystem(join(root, 'none'))).toBeNull()
    expect(await createDiskUsage().modifiedAt(join(root, 'none'))).toBeNull()
  })
  test('files below are summed, links are not followed', async () => {
    await mkdir(join(root, 'in/deep'), { recursive: true })
    await mkdir(join(root, 'out'))
    const sum = async () => createDiskUsage().bytesBelow(join(root, 'in'), signal)
    const empty = (await sum()) ?? 0n
    await writeFile(join(root, 'out/big'), Buffer.alloc(1_000_000, 1))
    await symlink(join(root, 'out'), join(root, 'in/link'))
    await writeFile(join(root, 'in/deep/a'), Buffer.alloc(40_960, 1))
    const filled = BigInt((await sum()) ?? 0n) - BigInt(empty)
    expect(filled).toBeGreaterThanOrEqual(40_960n)
    expect(filled).toBeLessThan(200_000n)
  })
  test('more files than one call reads: the size of the last complete pass', async () => {
    const write = async (...names: readonly string[]) => {
      for (const name of names) await writeFile(join(root, 'in', name), Buffer.alloc(8192, 1))
    }
    await mkdir(join(root, 'in'))
    await write('a', 'b', 'c', 'd', 'e')
    const whole = Number(await createDiskUsage().bytesBelow(join(root, 'in'), signal))
    expect(whole).toBeGreaterThanOrEqual(5 * 8192)
    const space = createDiskUsage(2)
    const sizes = async (count: number) => {
      const found: unknown[] = []
      for (let at = 0; at < count; at += 1) found.push(await space.bytesBelow(join(root, 'in'), signal))
      return found
    }
    // Two files in a call: a pass of five takes three.
    expect(await sizes(3)).toEqual(['incomplete', 'incomplete', BigInt(whole)])
    for (const name of ['a', 'b', 'c', 'd']) await rm(join(root, 'in', name))
    await write('f')
    const [one, two] = await sizes(2)
    expect([one, two]).toEqual([BigInt(whole), BigInt((whole / 5) * 2)])
    expect(await createDiskUsage(2).bytesBelow(join(root, 'none'), signal)).toBeNull()
  })
  test('a pass that was interrupted continues, one of a directory that was replaced begins again', async () => {
    const path = join(root, 'in')
    await mkdir(path)
    for (const name of ['a', 'b', 'c', 'd', 'e']) await writeFile(join(path, name), Buffer.alloc(8192, 1))
    const space = createDiskUsage(2)
    expect(await space.bytesBelow(path, signal)).toBe('incomplete')
    await expect(space.bytesBelow(path, AbortSignal.abort())).rejects.toThrow('Could not read')
    expect(await space.bytesBelow(path, signal)).toBe('incomplete')
    await rename(path, join(root, 'out'))
    await mkdir(path)
    await writeFile(join(path, 'x'), Buffer.alloc(8192, 1))
    expect(await space.bytesBelow(path, signal)).toBe(BigInt((await stat(join(path, 'x'))).blocks * 512))
    await rename(path, join(root, 'old'))
    await mkdir(path)
    for (const name of ['a', 'b', 'c']) await writeFile(join(path, name), Buffer.alloc(4096, 1))
    // Three files take two calls: until then the size is not that of the directory before.
    expect(await space.bytesBelow(path, signal)).toBe('incomplete')
    const sizes = ['a', 'b', 'c'].map(async (name) => (await stat(join(path, name))).blocks * 512)
    const sum = (await Promise.all(sizes)).reduce((total, bytes) => total + bytes, 0)
    expect(await space.bytesBelow(path, signal)).toBe(BigInt(sum))
    await rm(path, { recursive: true })
    expect(await space.bytesBelow(path, signal)).toBeNull()
  })
  test('a pass holds its directory open until it is released; the size stays known', async () => {
    const path = join(root, 'in')
    await mkdir(path)
    for (const name of ['a', 'b', 'c']) await writeFile(join(path, name), 'x')
    const held = async (): Promise<number> => {
      const targets = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
      return (await Promise.all(targets)).filter((target) => target === path).length
    }
    const space = createDiskUsage(2)
    await space.bytesBelow(path, signal)
    expect(await held()).toBe(1)
    await space.release()
    expect(await held()).toBe(0)
    expect(await space.bytesBelow(path, signal)).toBe('incomplete')
    const size = await space.bytesBelow(path, signal)
    expect(size).toBeTypeOf('bigint')
    expect(await space.bytesBelow(path, signal)).toBe(size)
    // As at the end of the collector, while a call runs.
    const ending = new AbortController()
    const last = Promise.allSettled([space.bytesBelow(path, ending.signal)])
    ending.abort()
    await space.release()
    expect((await last)[0].status).toBe('rejected')
    expect(await held()).toBe(0)
  })
  test('a directory that was removed while we hold it, as by a bind mount, is not an empty one', async () => {
    await mkdir(join(root, 'ledger'))
    const held = await open(join(root, 'ledger'))
    const path = `/proc/self/fd/${held.fd}`
    try {
      const space = createDiskUsage()
      expect(typeof (await space.bytesBelow(path, signal))).toBe('bigint')
      await rmdir(join(root, 'ledger'))
      await mkdir(join(root, 'ledger'))
      await writeFile(join(root, 'ledger/some.toml'), 'x')
      expect(await space.bytesBelow(path, signal)).toBeNull()
      expect(await space.fileSystem(path)).not.toBeNull()
    } finally {
      await held.close()
    }
  })
})
