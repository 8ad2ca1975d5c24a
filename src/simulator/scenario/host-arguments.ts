import { type Argument, duration } from './arguments.ts'

const number = (expected: string, from: number, to: number): Argument<number> => ({
  expected,
  read: (text) => {
    const value = /^-?\d{1,7}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
    return value >= from && value <= to ? value : undefined
  },
})

const whole = (expected: string, from: number, to: number): Argument<number> => {
  const { read } = number(expected, from, to)
  return {
    expected,
    read: (text) => (/^\d+$/.test(text) ? read(text) : undefined),
  }
}

export const port = whole('a port, such as 8080', 1, 65_535)
export const files = whole('a number of files up to 1000000', 1, 1_000_000)
/** Each of them is an entry of a real directory. */
export const openFiles = whole('a number of files up to 4000', 0, 4000)
export const pages = whole('a number of pages up to 2048', 0, 2048)

export const kernel: Argument<string> = {
  expected: 'a kernel release, such as 6.8.0-58-generic',
  read: (text) => (/^\d+\.\d+\.\d+-\d+-[a-z]+$/.test(text) ? text : undefined),
}

/** A clock may be ahead or behind. */
export const offset: Argument<number> = {
  expected: 'milliseconds ahead or behind, such as 300ms or -40ms',
  read: (text) => {
    const [, value = ''] = /^(-?\d{1,6}(?:\.\d{1,3})?)ms$/.exec(text) ?? []
    return value === '' ? undefined : Number(value)
  },
}

/** These bytes are really written. */
export const megabytesInTime: Argument<{ readonly megabytes: number; readonly ms: number }> = {
  expected: 'megabytes up to 64 and a time, such as "32MB in 1m"',
  read: (text) => {
    const [, size = '', time = ''] = /^(\d{1,2})MB in (\S+)$/.exec(text) ?? []
    const ms = duration.read(time)
    return size === '' || ms === undefined || Number(size) > 64
      ? undefined
      : { megabytes: Number(size), ms }
  },
}
