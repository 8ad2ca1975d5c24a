import { hasIncreased, percent, ruleFile } from './rule.ts'

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
    alert: 'ChainDriveFailing',
    why: 'errors',
    advice: ['See its report: `smartctl -a DEVICE`.', 'Plan to replace it.'],
    expr: hasIncreased('chain_host_nvme_media_errors_total', '24h'),
    summary: 'the drive {{ $labels.device }} had errors that it could not correct',
    description:
      'The drive {{ $labels.device }} of {{ $labels.instance }} had {{ printf "%.0f" $value }} uncorrectable errors within 24 hours.',
  },
  {
    comment:
      '65 °C are ordinary under the load of such a node; drives throttle from about 80 °C, which protects them: no reason to page.',
    alert: 'ChainHeat',
    why: 'drive',
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
    alert: 'ChainDriveFailing',
    why: 'worn',
    limit: 0.8,
    for: '5m',
    advice: ['Plan to replace it.'],
    expr: (limit) => `chain_host_nvme_used_ratio > ${limit}`,
    summary: 'the drive {{ $labels.device }} is near the end of its rated life',
    description: (limit) =>
      `The drive {{ $labels.device }} of {{ $labels.instance }} has used {{ $value | humanizePercentage }} of its rated life, more than ${percent(limit)}.`,
  },
])
