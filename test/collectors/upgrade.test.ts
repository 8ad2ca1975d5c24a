import { expect, test } from 'vitest'
import { aptFile, build, pollVersion, program, prints, withEmptyHost } from './run-version.ts'

withEmptyHost()

const LIST = 'var/lib/apt/lists/packages.example_dists_stable_main_binary-amd64_Packages'
const offers = (...versions: readonly string[]): string =>
  versions.map((version) => `Package: zephyr\nVersion: ${version}\nArchitecture: amd64\n`).join('\n')

/** dpkg-query: the row of the package, and those of the kernel. */
const dpkgQuery = (row: string, kernel = 'ii  linux-image-amd64'): string =>
  `case "$3" in zephyr) ${prints(row)}\n;; *) ${prints(kernel)}\n;; esac`

const upgradeWith = async (row: string, kernel?: string) => {
  await program('zephyr-node', build('v0.16.1'))
  await program('dpkg-query', dpkgQuery(row, kernel))
  const { shown, states } = await pollVersion()
  const relevant = Object.entries(shown).filter(([name]) => /^package_(?!info)/.test(name))
  return { shown: Object.fromEntries(relevant), state: states['upgrade'] }
}

test('a newer version in the lists, and a package on hold', async () => {
  await aptFile(LIST, offers('0.16.0', '0.16.2', '0.16.2~rc.1'))
  expect(await upgradeWith('hi  zephyr 0.16.1 amd64 1700000000')).toEqual({
    shown: {
      'package_held{node}': 1,
      'package_held{kernel}': 0,
      'package_candidate_info{0.16.2}': 1,
      package_upgrade_available: 1,
    },
    state: '0.16.2 is available; the package is on hold',
  })
})

test('no newer version; a kernel on hold', async () => {
  await aptFile(LIST, offers('0.16.0', '0.16.1'))
  const kernels = 'ii  linux-image-6.8.0-60-generic\nun  linux-image\nhi  linux-image-generic'
  expect(await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000', kernels)).toEqual({
    shown: {
      'package_held{node}': 0,
      'package_held{kernel}': 1,
      'package_candidate_info{0.16.1}': 1,
      package_upgrade_available: 0,
    },
    state: 'none available',
  })
})

test('a pin excludes the newest version', async () => {
  await aptFile(LIST, offers('0.16.1', '0.16.2'))
  await aptFile('etc/apt/preferences.d/zephyr', 'Package: zephyr\nPin: version 0.16.1\nPin-Priority: 990\n')
  const { shown, state } = await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000')
  expect(shown['package_upgrade_available']).toBe(0)
  expect(state).toBe('none available; 0.16.2 is excluded by a pin')
})

test('another architecture is no upgrade, `all` is one', async () => {
  await aptFile(LIST, offers('0.16.1'))
  const list = 'var/lib/apt/lists/packages.example_dists_stable_main_binary-arm64_Packages'
  await aptFile(list, offers('0.17.0').replace('amd64', 'arm64'))
  expect((await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000')).state).toBe('none available')
  await aptFile(list, offers('0.17.0').replace('amd64', 'all'))
  expect((await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000')).state).toBe('0.17.0 is available')
})

test('a compressed list next to one that has a newer version', async () => {
  await aptFile(LIST, offers('0.16.2'))
  await aptFile(`${LIST}.lz4`, '')
  expect((await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000')).state).toBe('0.16.2 is available')
})

test.each([
  {
    of: 'the list has another package',
    path: LIST,
    text: 'Package: chrony\nVersion: 4.0\n',
    why: 'no package list has the package',
  },
  { of: 'the list is compressed', path: `${LIST}.lz4`, text: '', why: '1 package lists are compressed and not read' },
  {
    of: 'a second list is compressed',
    path: 'var/lib/apt/lists/second_Packages.lz4',
    text: '',
    why: '1 package lists are compressed and not read',
    listed: '0.16.1',
  },
  {
    of: 'the pin is of a release',
    path: 'etc/apt/preferences',
    text: 'Package: zephyr\nPin: release a=stable\nPin-Priority: 990\n',
    why: 'a pin that is not evaluated may decide',
    listed: '0.16.2',
  },
])('unknown: $of', async ({ path, text, why, listed }) => {
  if (listed !== undefined) await aptFile(LIST, offers(listed))
  await aptFile(path, text)
  const { shown, state } = await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000')
  expect(shown).toEqual({ 'package_held{node}': 0, 'package_held{kernel}': 0 })
  expect(state).toBe(`unknown: ${why}`)
})

test('a host without packages of a kernel, such as a container', async () => {
  await aptFile(LIST, offers('0.16.1'))
  const { shown } = await upgradeWith('ii  zephyr 0.16.1 amd64 1700000000', 'un  linux-image')
  expect(shown).not.toHaveProperty('package_held{kernel}')
})
