import { z } from 'zod'
import { file, label, polling, timed } from '../../core/settings.ts'
import { externalCounter, gauge, open, opens } from '../../core/metric.ts'
import { listOf, mapOf, objectOf, orNull } from '../shared/reading-schema.ts'

/** The running kernel, and the one that the next boot starts. */
export const KERNELS = ['running', 'pending'] as const

/** Resources whose pressure the kernel measures. */
export const RESOURCES = ['cpu', 'io', 'memory'] as const

/** Counters of an interface: rx_missed_errors, rx_errors and rx_dropped (Documentation/networking/statistics.rst of Linux). */
export const DROP_KINDS = ['missed', 'error', 'dropped'] as const

const HUGE_PAGE_SIZES = ['2Mi', '1Gi'] as const

export const definition = {
  name: 'host',
  help: 'properties of the host that the node depends on: kernel, clock, huge pages, pressure, drives, ports, limits',
  introduction: 'Properties of the host that the node depends on and that node_exporter does not export.',
  settings: timed('15s', '10s', {
    ...polling('15s'),
    procfs: file('mount point of procfs').default('/proc'),
    sysfs: file('mount point of sysfs').default('/sys'),
    bootDirectory: file('directory of the kernel images').default('/boot'),
    ports: z
      .array(z.int().min(1).max(65_535))
      .default([8080, 8081, 8889, 9143])
      .describe('ports that should be reachable from this host only'),
    firewalledPorts: z
      .array(z.int().min(1).max(65_535))
      .default([])
      .describe('those of `ports` that a firewall protects, tested from outside: they do not count as exposed'),
    directories: z
      .record(label, file('a directory'))
      .default({ ledger: '/home/{prefix}/{prefix}-bft/ledger', wal: '/home/{prefix}/{prefix}-bft/wal' })
      .describe('directories of the node whose disk usage is monitored: label → path'),
    fileSystems: z
      .array(file('a directory'))
      .default(['/', '/var/log'])
      .describe(
        'other file systems of the host whose free space is monitored, by a directory in each; the label is the path',
      ),
    smartDirectory: file('directory with the health of drives, DEVICE.json as written by smartctl')
      .nullable()
      .default(null),
  }),
  reading: mapOf(objectOf({ samples: listOf(z.unknown()), state: orNull.text })),
  metrics: {
    chain_host_boot_timestamp_seconds: gauge('Boot time of the host.'),
    chain_host_kernel_info: gauge('Constant 1; the running kernel, and the one that the next boot starts.', {
      kernel: KERNELS,
      release: open,
    }),
    chain_host_kernel_blocked: gauge('Whether the kernel is known to break these nodes.', { kernel: KERNELS }),
    chain_host_hugepages: gauge('Huge pages of the kernel, used and free, by size.', { size: HUGE_PAGE_SIZES }),
    chain_host_hugepages_free: gauge('Free huge pages of the kernel, by size.', { size: HUGE_PAGE_SIZES }),
    chain_host_smt_active: gauge('Whether simultaneous multithreading is active.'),
    chain_host_governor_cpus: gauge('Number of CPUs, by frequency governor.', { governor: open }),
    chain_host_cpu_throttles_total: externalCounter('Thermal throttling events of the CPUs.'),
    chain_host_pressure_waiting_seconds_total: externalCounter(
      'Time in seconds in which at least one task that could run waited for the resource, since the boot of the host.',
      { resource: RESOURCES },
    ),
    chain_host_pressure_stalled_seconds_total: externalCounter(
      'Time in seconds in which all tasks that could run waited for the resource, since the boot of the host.',
      { resource: ['io', 'memory'] },
    ),
    chain_host_udp_received_total: externalCounter(
      'UDP packets that programs of the host have received, since its boot.',
    ),
    chain_host_udp_errors_total: externalCounter(
      'UDP packets that the kernel dropped because a socket buffer was full, since the boot of the host.',
      { kind: ['receive_buffer', 'send_buffer'] },
    ),
    chain_host_network_received_total: externalCounter(
      'Packets that the interface of the default route has received.',
      { device: open },
    ),
    chain_host_network_drops_total: externalCounter(
      'Packets that the network card of the default route lost, because it had no free buffer (missed) or they were damaged (error), or that the kernel did not want (dropped), for example of an unknown protocol.',
      { device: open, kind: DROP_KINDS },
    ),
    chain_host_socket_buffer_max_bytes: gauge('Largest socket buffer that a program can request.', {
      direction: ['receive', 'send'],
    }),
    chain_host_oom_kills_total: externalCounter('Processes killed for lack of memory, since the boot of the host.'),
    chain_host_memory_available_bytes: gauge('Available memory of the host.'),
    chain_host_memory_available_ratio: gauge('Available ratio of the memory of the host.'),
    chain_host_clock_synchronized: gauge('Whether the clock is synchronized by a time service.'),
    chain_host_clock_offset_seconds: gauge(
      'Offset of the clock of the host in seconds; positive when it is ahead of the time service.',
    ),
    chain_host_port_exposed: gauge('Whether a process listens on the port on an interface other than loopback.', {
      port: open,
    }),
    chain_host_filesystem_size_bytes: gauge('Size of the file system of the directory.', { directory: open }),
    chain_host_filesystem_available_bytes: gauge('Free space of the file system of the directory.', {
      directory: open,
    }),
    chain_host_directory_bytes: gauge('Disk usage of the files of the directory.', { directory: open }),
    chain_node_statesync_threshold_blocks: gauge(
      'Setting statesync_threshold in the configuration of consensus, from which it derives its distances; absent if the agent cannot read the file.',
    ),
    chain_host_file_modified_timestamp_seconds: gauge('Modification time of a configuration file.', { file: open }),
    chain_host_nvme_info: gauge('Constant 1; model and firmware of the drive.', opens('device', 'model', 'firmware')),
    chain_host_nvme_temperature_celsius: gauge('Temperature of the drive.', { device: open }),
    chain_host_nvme_critical_warning: gauge('Bits of the critical warning of the drive; 0 is healthy.', {
      device: open,
    }),
    chain_host_nvme_media_errors_total: externalCounter('Errors that the drive did not correct.', { device: open }),
    chain_host_nvme_used_ratio: gauge('Used ratio of the lifetime of the drive.', { device: open }),
    chain_host_nvme_written_bytes_total: externalCounter('Bytes written to the drive in its life.', { device: open }),
    chain_host_nvme_endurance_eta_seconds: gauge(
      'Time in seconds until the rated endurance of the drive is used, at the mean rate since it was first powered on; absent if less than 5 % is used.',
      { device: open },
    ),
    chain_service_max_file_descriptors: gauge('Limit of open files of the main process of the service.', {
      service: open,
    }),
    chain_service_open_file_descriptors: gauge('Open files of the main process of the service.', { service: open }),
  },
} as const
