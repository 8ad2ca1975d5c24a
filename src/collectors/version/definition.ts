import { z } from 'zod'
import { file, label, polling, timed } from '../../core/settings.ts'
import { gauge, open, opens } from '../../core/metric.ts'
import { each, listOf, mapOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** Sources of the running version: the RPC, the metrics of consensus. */
export const RUNNING_SOURCES = ['rpc', 'native'] as const
/** The requirements of a fork. */
export const FORK_CHECKS = ['version', 'timeline'] as const

/** A version, or why it could not be read. */
const resultOf = <Fields extends z.ZodRawShape>(fields: Fields) =>
  objectOf({
    value: objectOrNull(fields).optional(),
    error: z
      .string()
      .transform((message) => new Error(message))
      .optional()
      .catch(undefined),
  })

export const definition = {
  name: 'version',
  help: 'installed and running versions, and whether the node is ready for the next fork',
  introduction:
    'Installed and running versions, and the requirements of the network. An endpoint reports three numbers, so a suffix that only the package has (`-1`, `~rc`, `+1`) shows nothing: then, and where no running version is known, `chain_version_mismatch` is 1 if consensus, execution or the RPC has been running since before the package was installed. For `chain_fork_ready` with `version`, the installed version decides until 24 hours before the fork, then the running version must be new enough, too. A fork is exported until 30 days after its activation if its requirements are met and no slot-encoded timeline is primary. What apt would install is the candidate of `apt-cache policy`, by the lists that `apt-get update` left on the host and by its pins; the agent does not use the network for it. It is read when the lists, the preferences or the installed packages have changed, and every 6 h. The package and the programs are read again if `var/lib/dpkg/status` below `version.rootDirectory`, or the file of the program, has changed, and every ten minutes. Forks come from `networks/forks.yaml`, by the chain id that the RPC or the status report returns, and from `version.forksFile`, whose `reviewed` counts if it is later than that of the shipped list.',
  settings: timed('1m', '20s', {
    ...polling('1m'),
    package: label.nullable().default(null).describe("the node's Debian package; null: the name prefix"),
    rootDirectory: file("the directory that has apt's `var/lib/apt/lists` and `etc/apt`").default('/'),
    programs: z
      .array(label)
      .default(['node'])
      .describe('the programs, without the name prefix, that print their version with --version'),
    forksFile: file('forks and releases of networks, in addition to those that are shipped').nullable().default(null),
  }),
  reading: objectOf({
    programs: mapOf(
      resultOf({
        ...each(orNull.text, 'program', 'version', 'tag', 'commit', 'branch'),
      }),
    ),
    package: resultOf({ package: orNull.text, version: orNull.text, installedAt: orNull.time, isHeld: orNull.flag }),
    upgrade: objectOf({ candidate: orNull.text, isAvailable: orNull.flag, state: orNull.text }),
    installed: orNull.text,
    running: listOf(objectOf({ source: orNull.text, version: orNull.text })),
    mismatch: orNull.flag,
    forks: z
      .array(
        objectOf({
          fork: objectOf({
            ...each(orNull.text, 'name', 'kind', 'minimumVersion'),
            activationAt: orNull.time,
          }),
          checks: listOf(objectOf({ check: orNull.text, ready: orNull.flag })),
          promotionDue: orNull.flag,
        }),
      )
      .readonly()
      .nullable()
      .catch(null),
    forksReviewedAt: orNull.time,
  }),
  metrics: {
    chain_node_build_info: gauge(
      'Constant 1; the installed program as it reports itself.',
      opens('program', 'version', 'tag', 'commit', 'branch', 'modified'),
    ),
    chain_node_running_info: gauge('Constant 1; the running version, of the RPC and of the metrics of consensus.', {
      source: RUNNING_SOURCES,
      version: open,
    }),
    chain_package_info: gauge('Constant 1; the installed package.', { package: open, version: open }),
    chain_package_held: gauge('Whether the package is on hold (`apt-mark hold`), so that apt does not upgrade it.', {
      package: ['node'],
    }),
    chain_package_candidate_info: gauge(
      "Constant 1; the version of the node's package that apt would install, by the lists of the last `apt-get update`.",
      { version: open },
    ),
    chain_package_upgrade_available: gauge('Whether that version is newer than the installed one.'),
    chain_version_mismatch: gauge(
      'Whether a process runs a version other than the installed one: a restart is pending.',
    ),
    chain_fork_activation_timestamp_seconds: gauge('Activation time of the fork or of the mandatory release.', {
      fork: open,
    }),
    chain_forks_reviewed_timestamp_seconds: gauge(
      'Day on which the list of forks was last compared with the public sources: that of the shipped list, or a later one of the own list; absent if the shipped list does not have the chain and there is no own one.',
    ),
    chain_fork_ready: gauge('Whether the node meets the requirement of the fork.', { fork: open, check: FORK_CHECKS }),
  },
} as const
