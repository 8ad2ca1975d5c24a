import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withFoldersLocked } from '../../src/sources/secret-files.ts'
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
