import { expect, it } from 'vitest'
import { createBasicAuth } from '../../src/exporter/basic-auth.ts'

/** `htpasswd -nbBC 4 ada right`, and a costlier one for bob. The last 53 characters differ from a real hash. */
const ADA = `$2y$04$${'a'.repeat(53)}`
const BOB = `$2y$06$${'b'.repeat(53)}`

const BOTH = [
  ['ada', ADA],
  ['bob', BOB],
] as const

const CLIENT = '198.51.100.1'

const header = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

/** A comparison that ends when the test says so: `right` is the password of every hash. */
const create = (users: readonly (readonly [string, string])[] = [['ada', ADA]]) => {
  /** Passwords with the hashes that they are compared with. */
  const compared: string[] = []
  const ending: (() => void)[] = []
  let running = 0
  let mostAtOnce = 0
  const compare = (password: string, hash: string): Promise<boolean> =>
    new Promise((resolve) => {
      compared.push(`${password} ${hash}`)
      running += 1
      mostAtOnce = Math.max(mostAtOnce, running)
      ending.push(() => {
        running -= 1
        resolve(password === 'right')
      })
    })
  const auth = createBasicAuth(new Map(users), compare)
  /** Ends comparisons until none is waiting. */
  const settle = async (): Promise<void> => {
    await Promise.resolve().then(() => Promise.resolve())
    for (let end = ending.shift(); end; end = ending.shift()) {
      end()
      // The next one starts some microtasks later.
      for (let i = 0; i < 20; i += 1) await Promise.resolve()
    }
  }
  const check = async (text: string, client = CLIENT) => auth.check(header(text), client)
  const login = async (text: string) => {
    const result = check(text)
    await settle()
    return result
  }
  return { auth, check, compared, settle, login, mostAtOnce: () => mostAtOnce }
}

it('authentication is not required without users', () => {
  expect(create([]).auth.check(undefined, CLIENT)).toBe(undefined)
})

it.each([undefined, '', 'Basic', 'Basic !', `Bearer ${Buffer.from('ada:right').toString('base64')}`, header('ada')])(
  'rejects the header %j without a comparison',
  async (text) => {
    const { auth, compared } = create()
    expect(await auth.check(text, CLIENT)).toBe('rejected')
    expect(compared).toEqual([])
  },
)

it('remembers an accepted password, and no rejected one', async () => {
  const { login, compared } = create()
  expect(await login('ada:right')).toBe('accepted')
  expect(await login('ada:right')).toBe('accepted')
  expect(compared).toEqual([`right ${ADA}`])
  expect(await login('ada:wrong')).toBe('rejected')
  expect(await login('ada:wrong')).toBe('rejected')
  expect(compared.length).toBe(3)
  expect(await login('ada:right')).toBe('accepted')
  expect(compared.length).toBe(3)
})

it('splits at the first colon: a password may contain others', async () => {
  const { login, compared } = create()
  await login('ada:a:b')
  expect(compared).toEqual([`a:b ${ADA}`])
})

it('compares the password of an unknown user with the costliest hash, and rejects it even if it matches', async () => {
  const { login, compared } = create(BOTH)
  expect(await login('eve:right')).toBe('rejected')
  expect(await login('eve:right')).toBe('rejected')
  expect(compared).toEqual([`right ${BOB}`, `right ${BOB}`])
})

it('does not accept the password of one user for another', async () => {
  const { login, compared } = create(BOTH)
  await login('ada:right')
  await login('bob:right')
  expect(compared).toEqual([`right ${ADA}`, `right ${BOB}`])
})

it('compares one at a time, shares equal ones, and limits how many wait; known passwords do not wait', async () => {
  const { check, login, settle, compared, mostAtOnce } = create()
  await login('ada:right')
  const guesses = Array.from({ length: 12 }, (_, index) => check(`ada:${index}`))
  const equal = check('ada:0')
  expect(await check('ada:right')).toBe('accepted')
  await settle()
  const results = await Promise.all([...guesses, equal])
  // One in progress and eight waiting; the next three are too many; the last is equal to the first.
  expect(results).toEqual([...Array.from({ length: 9 }, () => 'rejected'), 'busy', 'busy', 'busy', 'rejected'])
  expect(mostAtOnce()).toBe(1)
  expect(compared.length).toBe(10)
})

it('a failed comparison rejects its own request only', async () => {
  let isBroken = true
  const compare = () => (isBroken ? Promise.reject(new Error('no thread')) : Promise.resolve(true))
  const auth = createBasicAuth(new Map([['ada', ADA]]), compare)
  await expect(auth.check(header('ada:right'), CLIENT)).rejects.toThrow('no thread')
  isBroken = false
  expect(await auth.check(header('ada:right'), CLIENT)).toBe('accepted')
})

it('a flood of another address does not keep a right password out', async () => {
  const { check, settle, compared } = create()
  const guesses = Array.from({ length: 40 }, (_, index) => check(`ada:${index}`))
  const honest = check('ada:right', '203.0.113.7')
  await settle()
  expect(await honest).toBe('accepted')
  // One in progress, one by the turn of its client, and then the other client.
  expect(compared.indexOf(`right ${ADA}`)).toBe(2)
  expect((await Promise.all(guesses)).filter((result) => result === 'rejected')).toHaveLength(8)
})

it('a right password of the address of a flood is next when it is repeated', async () => {
  const { check, settle, compared } = create()
  const guess = (from: number) => Array.from({ length: 400 }, (_, index) => check(`ada:${from + index}`))
  const before = guess(0)
  expect(await check('ada:right')).toBe('busy')
  const between = guess(1000)
  const honest = check('ada:right')
  await settle()
  expect(await honest).toBe('accepted')
  expect(compared.indexOf(`right ${ADA}`)).toBe(1)
  await Promise.all([...before, ...between])
})

it('a guess has no turn before others because it is repeated after its comparison', async () => {
  const { check, login, settle } = create()
  await login('ada:guess')
  const others = Array.from({ length: 9 }, (_, index) => check(`ada:${index}`))
  const repeated = check('ada:guess')
  await settle()
  expect(await repeated).toBe('busy')
  await Promise.all(others)
})

it('a user that does not exist has the same turns as one that does', async () => {
  const turnsOf = async (user: string) => {
    const { check, settle, compared } = create()
    const results = [
      ...Array.from({ length: 12 }, (_, index) => check(`${user}:${index}`)),
      ...Array.from({ length: 2 }, (_, index) => check(`ada:other${index}`, '203.0.113.7')),
      check(`${user}:11`),
    ]
    await settle()
    return [await Promise.all(results), compared]
  }
  expect(await turnsOf('eve')).toEqual(await turnsOf('ada'))
})
