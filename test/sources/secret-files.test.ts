import { mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { secretFiles, withFoldersLocked } from '../../src/sources/secret-files.ts'
import { temporaryFolder } from '../support/directory.ts'

const folder = await temporaryFolder()

describe('a folder that is locked', () => {
  it('is not to be had by another, by whatever name', async () => {
    const other = join(folder, 'link')
    await symlink(folder, other)
    await withFoldersLocked([folder], async () => {
      await expect(withFoldersLocked([other], () => Promise.resolve())).rejects.toThrow(
        'another `chain-agent keys` process is using them',
      )
    })
  })

  it('is free again when the work is done, or has failed', async () => {
    await expect(withFoldersLocked([folder], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await withFoldersLocked([folder], () => Promise.resolve('done'))).toBe('done')
  })

  it('may be named twice', async () => {
    expect(await withFoldersLocked([folder, folder], () => Promise.resolve('done'))).toBe('done')
  })
})

describe('an open directory', () => {
  it('is written to under its new name when a link has taken its place, which is noticed', async () => {
    const [path, moved, other] = ['backup', 'moved', 'other'].map((name) => join(folder, name))
    if (path === undefined || moved === undefined || other === undefined) throw new RangeError('three names')
    await mkdir(path)
    await mkdir(other)
    const opened = await secretFiles.openFolder(path)
    expect(await opened.isInPlace()).toBe(true)
    await rename(path, moved)
    expect(await opened.isInPlace()).toBe(false)
    await symlink(other, path)
    const inode = await opened.files.create(join(path, 'a'), 'text')
    await opened.files.replace(join(path, 'a'), join(path, 'b'), inode)
    expect([await opened.isInPlace(), await opened.files.resolve(path)]).toEqual([false, moved])
    expect(await opened.files.list(path)).toEqual(['b'])
    await opened.files.remove(join(path, 'b'))
    await opened.close()
    expect([await readdir(moved), await readdir(other)]).toEqual([[], []])
  })
})
