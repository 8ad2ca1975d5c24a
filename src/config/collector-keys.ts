import { z } from 'zod'
import { file, FOLLOW, label, POLL, serviceUnit, timing, token, url, baseUrl } from './values.ts'

/** The settings of each collector, by collector name. */
export const collectors = {
  rpc: z
    .strictObject({
      ...timing('2s', '3s', POLL),
      url: url("the node's JSON-RPC").default('http://localhost:8080'),
    })
    .prefault({}),
  reference: z.strictObject(timing('10s', '5s', POLL)).prefault({}),
  services: z
    .strictObject({
      ...timing('10s', '5s', POLL),
      units: z
        .record(label, serviceUnit)
        .default({
          bft: '{prefix}-bft.service',
          execution: '{prefix}-execution.service',
          rpc: '{prefix}-rpc.service',
          'ledger-tail': '{prefix}-ledger-tail.service',
          otelcol: 'otelcol.service',
          cruft: '{prefix}-cruft.service',
        })
        .describe('the units to watch: label → unit'),
      required: z
        .array(label)
        .default(['bft', 'execution', 'rpc'])
        .describe('units that should run even where they are not enabled'),
      timers: z
        .record(label, z.string().regex(/^\S+\.timer$/, 'expected the name of a .timer unit'))
        .default({ cruft: '{prefix}-cruft.timer' })
        .describe('the timers to watch: label → unit'),
    })
    .refine(({ units, required }) => required.every((name) => name in units), {
      path: ['required'],
      message: 'expected names that stand in services.units',
    })
    .prefault({}),
  lifecycle: z.strictObject(timing('5s', '10s', FOLLOW)).prefault({}),
  ledger: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-ledger-tail.service')
        .describe('the unit whose journal carries the ledger stream'),
    })
    .prefault({}),
  consensus: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-bft.service')
        .describe('the unit whose journal is the consensus log'),
    })
    .prefault({}),
  storage: z
    .strictObject({
      ...timing('60s', '20s', POLL),
      devices: z
        .array(z.string().min(1))
        .min(1, 'expected at least one device')
        .default(['/dev/triedb'])
        .describe('the devices of the database, as the node is given them'),
      reportFile: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          'read the report from this file, which a privileged unit writes (deploy/), instead',
        ),
    })
    .prefault({}),
  status: z.strictObject(timing('5m', '60s', POLL)).prefault({}),
  execution: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-execution.service')
        .describe('the unit whose journal is the log of execution'),
    })
    .prefault({}),
  logs: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      units: z
        .record(label, serviceUnit)
        .default({
          bft: '{prefix}-bft.service',
          execution: '{prefix}-execution.service',
          cruft: '{prefix}-cruft.service',
        })
        .describe('the units whose logs are searched for lines that mean trouble: label → unit'),
    })
    .prefault({}),
  version: z
    .strictObject({
      ...timing('1m', '20s', POLL),
      package: label
        .nullable()
        .default(null)
        .describe("the node's Debian package; the maker's word without one"),
      programs: z
        .array(label)
        .default(['node'])
        .describe('the programs, without the prefix, that tell their version with --version'),
      forksFile: file('forks and releases of networks, read beside those that the agent knows')
        .nullable()
        .default(null),
    })
    .prefault({}),
  keys: z
    .strictObject({
      ...timing('1m', '10s', POLL),
      reportFile: file('read the states from this file, which a privileged unit writes (deploy/)')
        .nullable()
        .default(null),
    })
    .prefault({}),
  host: z
    .strictObject({
      ...timing('15s', '10s', POLL),
      procfs: file('where the kernel tells of processes').default('/proc'),
      sysfs: file('where the kernel tells of devices').default('/sys'),
      bootDirectory: file('where the images of kernels lie').default('/boot'),
      ports: z
        .array(z.int().min(1).max(65_535))
        .default([8080, 8081, 8889, 9143])
        .describe('ports that should be reachable from this host alone'),
      directories: z
        .record(label, file('a directory'))
        .default({
          ledger: '/home/{prefix}/{prefix}-bft/ledger',
          wal: '/home/{prefix}/{prefix}-bft/wal',
        })
        .describe('directories of the node whose space is watched: label → path'),
      smartDirectory: file('read the health of drives from here, DEVICE.json of smartctl')
        .nullable()
        .default(null),
    })
    .prefault({}),
  native: z
    .strictObject({
      ...timing('10s', '5s', POLL),
      url: url('the metrics of consensus itself; /metrics is asked where it names no path').default(
        'http://localhost:9143',
      ),
      fallbackUrl: url('where else they are: the OpenTelemetry collector')
        .nullable()
        .default('http://localhost:8889'),
      namePrefix: z
        .string()
        .regex(/^[a-z][a-z0-9]*$/, "expected the first word of the metrics' names")
        .nullable()
        .default(null)
        .describe("the first word of the metrics' names; the maker's word without one"),
    })
    .prefault({}),
  tokens: z
    .strictObject({
      ...timing('60s', '30s', POLL),
      url: baseUrl('the query service that tells of tokens').nullable().default(null),
      apiKeyFile: file('the file with the API key of that service').nullable().default(null),
      watch: z
        .array(token, 'expected a list of tokens')
        .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
          message: 'expected tokens with names that differ',
        })
        .default([])
        .describe(
          'tokens and holders: {name, contract, standard, profile, fromBlock, decimals, holders: [{name, address, id}]}',
        ),
    })
    .refine(({ url: address, watch }) => watch.length === 0 || address !== null, {
      path: ['url'],
      message: 'expected the address of a query service',
    })
    .prefault({}),
  derived: z
    .strictObject({
      ...timing('5s', '5s', POLL),
      blocksyncWindow: z
        .int()
        .min(1)
        .default(600)
        .describe('blocks that peers serve a node that fell behind, before it needs statesync'),
    })
    .prefault({}),
  maintenance: z.strictObject(timing('5s', '5s', POLL)).prefault({}),
  heartbeat: z
    .strictObject({
      ...timing('60s', '10s', ['how often it is sent', 'how long it waits for an answer']),
      urlFile: file('the file with the address that the heartbeat goes to; none is sent without')
        .nullable()
        .default(null),
    })
    .prefault({}),
}
