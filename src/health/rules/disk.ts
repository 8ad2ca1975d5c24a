import { hasIncreased, isNotNew, NODE_DOWN, percent, period, ruleFile } from './rule.ts'

export const disk = ruleFile({ name: 'disk', component: 'host' }, [
  {
    alert: 'ChainDiskFull',
    page: 'Minutes to hours later consensus cannot write its files, and exits.',
    limit: 0.05,
    advice: [
      'Free space: `journalctl --vacuum-size=1G`, old core dumps, old packages.',
      'Do not delete files of the node.',
    ],
    expr: (limit) =>
      `chain_host_filesystem_available_bytes{directory!~"/.*"} / on (instance, job, cluster, directory) chain_host_filesystem_size_bytes < ${limit}`,
    summary: 'the file system of {{ $labels.directory }} is almost full',
    description: (limit) =>
      `The file system of {{ $labels.directory }} on {{ $labels.instance }} has {{ $value | humanizePercentage }} left, less than ${percent(limit)}.`,
  },
  {
    comment:
      'A file system of the host is labelled with its path (`host.fileSystems`), a directory of the node with a name. A full one stops no service of the node by itself. `health.limits` changes only the limit of the node.',
    alert: 'ChainDiskFull',
    advice: [
      'Free space: `journalctl --vacuum-size=1G`, old core dumps, old packages.',
      'Find what grows: `du -xh --max-depth=2 DIRECTORY | sort -h | tail`.',
    ],
    expr: `chain_host_filesystem_available_bytes{directory=~"/.*"} / on (instance, job, cluster, directory) chain_host_filesystem_size_bytes < 0.05`,
    summary: 'the file system of {{ $labels.directory }} is almost full',
    description:
      'The file system of {{ $labels.directory }} on {{ $labels.instance }} has {{ $value | humanizePercentage }} left, less than 5%: journald truncates the logs, packages cannot be installed, and the agent cannot save its state.',
  },
  {
    comment:
      'F20. A forecast alone flaps; the share of free space keeps it from firing while there is plenty. A new ledger grows for the 600 minutes that the node keeps it, which is no trend: the range is longer, 11 of its 12 hours must have data, and the last hour must show the same. No forecast pages: ChainDiskFull does.',
    alert: 'ChainDiskFull.filling',
    limit: 0.4,
    for: '1h',
    advice: [
      'Find what grows: `du -xh --max-depth=2 DIRECTORY | sort -h | tail`.',
      'Check the clean-up: `systemctl list-timers`.',
    ],
    expr: (
      limit,
    ) => `chain_host_filesystem_available_bytes / on (instance, job, cluster, directory) chain_host_filesystem_size_bytes < ${limit}
  and on (instance, job, cluster, directory)
(predict_linear(chain_host_filesystem_available_bytes[12h], 86400) < 0)
  and on (instance, job, cluster, directory)
(predict_linear(chain_host_filesystem_available_bytes[1h], 86400) < 0)
  and on (instance, job, cluster, directory)
(count_over_time(chain_host_filesystem_available_bytes[12h:1h]) > 10)`,
    summary: 'the file system of {{ $labels.directory }} will be full within a day',
    description:
      'The file system of {{ $labels.directory }} on {{ $labels.instance }} has {{ $value | humanizePercentage }} left, and at the rate of the last 12 hours will be full within 24 hours.',
  },
  {
    comment: 'It existed within the hour and does not now: the space of a missing directory is unknown, not full.',
    alert: 'ChainBlind.directory',
    for: '5m',
    advice: [
      'Check whether its file system is mounted: `findmnt`.',
      'If the agent never found it, grant it the permissions described in docs/how-to/host.md.',
    ],
    expr: `last_over_time(chain_host_filesystem_size_bytes[1h])
  unless on (instance, job, cluster, directory) chain_host_filesystem_size_bytes
  and on (instance, job, cluster) (chain_agent_collector_up{collector="host"} == 1)`,
    summary: 'the directory {{ $labels.directory }} of the node is missing',
    description:
      'The directory {{ $labels.directory }} of {{ $labels.instance }}, whose file system had {{ $value | humanize1024 }}B, is no longer accessible: it was removed, or its file system is not mounted.',
  },
  {
    comment: 'F21. The timer fires every hour: one missed run can be chance, two are not.',
    alert: 'ChainCleanup.late',
    limit: 7200,
    advice: [
      'See its timer: `systemctl list-timers`.',
      'Run the clean-up once: `sudo systemctl start chain-cruft.service`.',
    ],
    expr: (limit) => `time() - chain_timer_last_trigger_timestamp_seconds{timer="cruft"} > ${limit}`,
    summary: 'the hourly clean-up of the node is late',
    description: (limit) =>
      `The timer {{ $labels.timer }} of {{ $labels.instance }} last fired {{ $value | humanizeDuration }} ago, more than ${period(limit)}; without it the file system fills up.`,
  },
  {
    comment: 'A timer that is disabled has no next time; after a reboot it has no last one either.',
    alert: 'ChainCleanup.not-scheduled',
    for: '15m',
    advice: ['Enable its timer: `sudo systemctl enable --now chain-cruft.timer`.'],
    expr: `chain_agent_collector_up{collector="services"} == 1
  unless on (instance, job, cluster) chain_timer_next_trigger_timestamp_seconds{timer="cruft"}`,
    summary: 'the clean-up of the node is not scheduled',
    description:
      'systemd on {{ $labels.instance }} has had no next trigger for the timer cruft for 15 minutes; without the clean-up the file system fills up.',
  },
  {
    comment:
      'F21. It skips when the ledger has no new file, as during statesync. round(), because increase() extrapolates.',
    alert: 'ChainCleanup.deletes-nothing',
    limit: 2,
    explainedBy: [NODE_DOWN, { alerts: ['ChainBlockStalled'] }],
    advice: [
      'Check whether the node writes new blocks: `chain-agent status chain`.',
      'See its log: `chain-agent logs cruft`.',
    ],
    expr: (
      limit,
    ) => `round(increase(chain_log_pattern_total{service="cruft",pattern="cleanup_skipped"}[3h])) >= ${limit}
  and ${isNotNew('chain_log_pattern_total{service="cruft",pattern="cleanup_skipped"}', '3h')}
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'the clean-up of the node runs and deletes nothing',
    description:
      'The clean-up of {{ $labels.instance }} deleted nothing {{ printf "%.0f" $value }} times within 3 hours, because the ledger had no new file for 20 minutes.',
  },
])

export const drives = ruleFile({ name: 'drives', component: 'host' }, [
  {
    comment:
      'F22. A drive sets a bit of its critical warning when it is no longer reliable. It still works: if it fails, ChainDriveGone or the alert of the service pages.',
    alert: 'ChainDriveFailing',
    advice: ['See its report: `smartctl -a DEVICE`.', 'Replace it as soon as possible.'],
    expr: 'chain_host_nvme_critical_warning > 0',
    summary: 'the drive {{ $labels.device }} reports that it is failing',
    description:
      'The drive {{ $labels.device }} of {{ $labels.instance }} has set its critical warning to {{ $value }} (bits: 1 spare low, 2 temperature, 4 unreliable, 8 read-only, 16 backup of memory failed).',
  },
  {
    alert: 'ChainDriveGone',
    page: 'The node or its redundancy has lost a drive; the next fault may cost the database.',
    for: '2m',
    keepFiringFor: '5m',
    advice: [
      'See what the kernel reports: `dmesg --ctime | grep -i nvme`, `lsblk`.',
      'Replace the drive, or check its slot and power.',
    ],
    expr: `group by (instance, job, cluster, device) (last_over_time(chain_host_nvme_info[1h]))
  unless on (instance, job, cluster, device) chain_host_nvme_info
  and on (instance, job, cluster) (chain_agent_collector_up{collector="host"} == 1)`,
    summary: 'the drive {{ $labels.device }} is missing from the host',
    description:
      'The drive {{ $labels.device }} of {{ $labels.instance }} was present within the last hour, and the kernel no longer lists it.',
  },
  {
    alert: 'ChainDriveFailing.errors',
    advice: ['See its report: `smartctl -a DEVICE`.', 'Plan to replace it.'],
    expr: hasIncreased('chain_host_nvme_media_errors_total', '24h'),
    summary: 'the drive {{ $labels.device }} had errors that it could not correct',
    description:
      'The drive {{ $labels.device }} of {{ $labels.instance }} had {{ printf "%.0f" $value }} uncorrectable errors within 24 hours.',
  },
  {
    comment:
      '65 °C are ordinary under the load of such a node; drives throttle from about 80 °C, which protects them: no reason to page.',
    alert: 'ChainHeat.drive',
    limit: 70,
    for: '10m',
    advice: ['Check its cooling.'],
    expr: (limit) => `chain_host_nvme_temperature_celsius > ${limit}`,
    summary: 'the drive {{ $labels.device }} is too hot',
    description: (limit) =>
      `The drive {{ $labels.device }} of {{ $labels.instance }} is at {{ $value | humanize }} °C, and has been above ${limit} °C for 10 minutes.`,
  },
  {
    comment:
      'Wear grows by a percent in weeks: five minutes lose nothing, and a single wrong report does not fire the alert. No level of it is a reason to page; a drive that fails is ChainDriveFailing.',
    alert: 'ChainDriveFailing.worn',
    limit: 0.8,
    for: '5m',
    advice: ['Plan to replace it.'],
    expr: (limit) => `chain_host_nvme_used_ratio > ${limit}`,
    summary: 'the drive {{ $labels.device }} is near the end of its rated life',
    description: (limit) =>
      `The drive {{ $labels.device }} of {{ $labels.instance }} has used {{ $value | humanizePercentage }} of its rated life, more than ${percent(limit)}.`,
  },
])
