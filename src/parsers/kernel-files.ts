import { ParseError } from '../core/errors.ts'
import { withinBounds } from '../core/bounds.ts'
import { parseU64 } from '../core/units.ts'

/** The text without whitespace around it. Throws a ParseError if it is not of the form, as do the functions below. */
const wordIn = (text: string, what: string, [form, expected]: readonly [RegExp, string]): string => {
  const word = text.trim()
  if (!form.test(word)) throw new ParseError(what, expected, text)
  return word
}

/** A kernel file with one integer; null for a sentinel. */
export const parseCount = (what: string, text: string): bigint | null =>
  parseU64(wordIn(text, what, [/^\d{1,20}$/, 'a whole number'])) ?? null

/** A kernel switch: 0 or 1. */
export const parseSwitch = (what: string, text: string): boolean => wordIn(text, what, [/^[01]$/, '0 or 1']) === '1'

/** A sensor's temperature, given in millidegrees, in degrees Celsius; null for a drive that has no sensor. */
export const parseTemperature = (what: string, text: string): number | null =>
  withinBounds('celsius', Number(wordIn(text, what, [/^-?\d{1,10}$/, 'thousandths of a degree'])) / 1000 + 0)

/** A word or a name that fits into a label value. */
export const parseWord = (what: string, text: string): string =>
  wordIn(text.replaceAll(/\s+/g, ' '), what, [/^[\x20-\x7E]{1,64}$/, 'a short word'])

/** The boot time in `/proc/stat`, in seconds since the epoch: null if the clock was not set when the host booted. */
export const parseBootTime = (text: string): bigint | null => {
  const [, boot] = /^btime (\d+)$/m.exec(text) ?? []
  if (boot === undefined) throw new ParseError('the statistics of the kernel', 'a line of btime', text)
  return withinBounds('unixSeconds', parseU64(boot))
}

/**
 * `/proc/meminfo`: `MemAvailable:   12345678 kB`, where a kB has 1024 bytes. What is available is what programs can still
 * get, as the kernel estimates it.
 */
export const parseMemory = (text: string) => {
  const bytesOf = (name: string): number => {
    const [, digits] = new RegExp(String.raw`^${name}: {1,20}(\d{1,15}) kB$`, 'm').exec(text) ?? []
    if (digits === undefined) throw new ParseError('the memory of the host', `a line ${name} in kB`, text)
    return Number(digits) * 1024
  }
  const totalBytes = bytesOf('MemTotal')
  if (totalBytes === 0) throw new ParseError('the memory of the host', 'more than 0 kB', text)
  return { totalBytes, availableBytes: bytesOf('MemAvailable') }
}

const MICROSECOND = 1e-6

/**
 * A file of `/proc/pressure`: `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`, in microseconds. The time in seconds
 * since the boot in which at least one task waited for the resource, and in which all that could run did; null if the
 * kernel does not report it.
 */
export const parsePressure = (text: string) => {
  const totalOf = (share: string): number | null => {
    const [, digits = ''] = new RegExp(String.raw`^${share} .{0,80}total=(\d{1,20})$`, 'm').exec(text) ?? []
    const microseconds = parseU64(digits)
    return microseconds === undefined ? null : Number(microseconds) * MICROSECOND
  }
  const some = totalOf('some')
  if (some === null) throw new ParseError('the pressure of a resource', 'a line some … total=', text)
  return { some, full: totalOf('full') }
}

/** `/proc/net/snmp` has two lines for each protocol: names, and values below them. */
export const parseColumns = (what: string, protocol: string, text: string): ReadonlyMap<string, bigint | null> => {
  const [names, values] = text
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}: `))
    .map((line) => line.trim().split(' ').slice(1))
  if (names === undefined || names.length !== values?.length) {
    throw new ParseError(what, `two lines of ${protocol} with as many columns`, text)
  }
  return new Map(names.map((name, at) => [name, parseCount(what, values[at] ?? '')]))
}

/** The count in a line `name 12` of `/proc/vmstat`; null if the kernel does not have it. */
export const parseNamedCount = (name: string, text: string): bigint | null => {
  const [, digits] = new RegExp(String.raw`^${name} (\S+)$`, 'm').exec(text) ?? []
  return digits === undefined ? null : parseCount(`${name} of the kernel`, digits)
}

const ROUTE_UP = 1

/** The interface of the default route in `/proc/net/route`, of several the one with the lowest metric; null without one. */
export const parseDefaultInterface = (text: string): string | null => {
  const [head = '', ...rows] = text.split('\n')
  if (!head.startsWith('Iface')) throw new ParseError('the table of routes', 'a heading with Iface', head)
  const defaults = rows.flatMap((row) => {
    const [name = '', destination, , flags = '', , , metric = '', mask] = row.trim().split(/\s+/)
    const isDefault = destination === '00000000' && mask === '00000000' && /^[\w.:@-]{1,15}$/.test(name)
    const isUp = (Number.parseInt(flags, 16) & ROUTE_UP) !== 0
    return isDefault && isUp ? [{ name, metric: Number(metric) }] : []
  })
  return defaults.toSorted((a, b) => a.metric - b.metric)[0]?.name ?? null
}

/** The soft limit of open files of a process, from `/proc/PID/limits`. Null is unlimited. */
export const parseOpenFilesLimit = (text: string): bigint | null => {
  const [, soft = ''] = /^Max open files\s+(\S+)\s+\S+\s+files\s*$/m.exec(text) ?? []
  if (soft === 'unlimited') return null
  const limit = parseU64(soft)
  if (limit === undefined) throw new ParseError('the limits of a process', 'Max open files', text)
  return limit
}

/** The number of CPUs that a process may use, from `/proc/PID/status`: `Cpus_allowed_list:\t1-3,7`. */
export const parseAllowedCpus = (text: string): number => {
  const [, list = ''] = /^Cpus_allowed_list:\t(\S{1,4096})$/m.exec(text) ?? []
  const ranges = list.split(',').map((range) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range))
  return ranges.reduce((sum, range) => {
    if (range === null) throw new ParseError('the CPUs of a process', 'Cpus_allowed_list', text)
    const [, from, to = from] = range
    return sum + Number(to) - Number(from) + 1
  }, 0)
}

/** Whether `/proc/mounts` has a hugetlbfs for pages of 2 MiB that is not the one of root, which systemd mounts. */
export const hasHugePageMount = (text: string): boolean =>
  text.split('\n').some((line) => {
    const [, directory, type, options = ''] = line.split(' ')
    // Without the option it has pages of the default size, which is 2 MiB on x86.
    const is2Mi = !/(?:^|,)pagesize=(?!2M(?:,|$))/.test(options)
    return type === 'hugetlbfs' && directory !== '/dev/hugepages' && is2Mi
  })

const LISTENING = '0A'

/**
 * The listening sockets in `/proc/net/tcp` or `/proc/net/tcp6`. The kernel lists listening sockets before connections,
 * so the beginning of the file is enough; an incomplete last line is ignored. Throws a ParseError.
 */
export const parseListeners = (text: string): readonly { readonly port: number; readonly isLoopback: boolean }[] => {
  const [head = '', ...rows] = text.split('\n')
  if (!head.includes('local_address')) {
    throw new ParseError('the table of sockets', 'a heading with local_address', head)
  }
  // After the last line break there is nothing, or an incomplete line.
  return rows.slice(0, -1).flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    if (state !== LISTENING) return []
    const [, address = '', port = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    if (port === '') throw new ParseError('the table of sockets', 'an address in hex digits', row)
    return [{ port: Number.parseInt(port, 16), isLoopback: isLoopback(address) }]
  })
}

/** Addresses are 32-bit words in the CPU's byte order: little-endian on all supported hosts. */
const isLoopback = (address: string): boolean => {
  if (address.length === 8) return address.endsWith('7F') // 127.0.0.0/8
  const mapped = '0000000000000000FFFF0000' // ::ffff:a.b.c.d
  if (address.startsWith(mapped)) return isLoopback(address.slice(mapped.length))
  return address === '00000000000000000000000001000000' // ::1
}
