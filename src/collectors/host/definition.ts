import { z } from 'zod'
import { file, label, POLL, timing } from '../../config/values.ts'
import { externalCounter, gauge, open } from '../../core/metric.ts'

/** Whether the kernel that runs, or the one that a reboot would start, is known to be bad. */
export const KERNELS = ['running', 'pending'] as const

export const definition = {
  name: 'host',
  help: 'what the node needs from its host: kernel, clock, huge pages, drives, ports, limits',
  introduction: 'What the node needs from its host and node_exporter does not say.',
  settings: z
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
  metrics: {
    chain_host_boot_timestamp_seconds: gauge('When the host was booted.'),
    chain_host_kernel_info: gauge('Constant 1; the kernel that runs, and that after a reboot.', {
      kernel: KERNELS,
      release: open,
    }),
    chain_host_kernel_blocked: gauge('Whether the kernel is known to break such nodes.', {
      kernel: KERNELS,
    }),
    chain_host_hugepages: gauge('Huge pages that the kernel holds.', {
      size: ['2Mi', '1Gi'],
      state: ['total', 'free'],
    }),
    chain_host_smt_active: gauge('Whether simultaneous multithreading is on.'),
    chain_host_governor_cpus: gauge('Processors by frequency governor.', { governor: open }),
    chain_host_cpu_throttles_total: externalCounter(
      'Times that the processors were slowed down by heat.',
    ),
    chain_host_cpu_busy_ratio: gauge('Share of processor time that was not idle.'),
    chain_host_memory_available_bytes: gauge('Memory that programs can still have.'),
    chain_host_memory_available_ratio: gauge('The same as a share of the memory of the host.'),
    chain_host_clock_synchronized: gauge('Whether the clock is kept by a time service.'),
    chain_host_clock_offset_seconds: gauge('By how much the clock is ahead of the time service.'),
    chain_host_port_exposed: gauge(
      'Whether something listens on the port on more than the loopback interface.',
      { port: open },
    ),
    chain_host_filesystem_size_bytes: gauge('Size of the file system of the directory.', {
      directory: open,
    }),
    chain_host_filesystem_available_bytes: gauge('Free space of the file system.', {
      directory: open,
    }),
    chain_host_directory_bytes: gauge('Space that the files of the directory take.', {
      directory: open,
    }),
    chain_host_file_modified_timestamp_seconds: gauge(
      'When a file of the configuration was last written.',
      { file: open },
    ),
    chain_host_nvme_info: gauge('Constant 1; model and firmware of the drive.', {
      device: open,
      model: open,
      firmware: open,
    }),
    chain_host_nvme_temperature_celsius: gauge('Temperature of the drive.', { device: open }),
    chain_host_nvme_critical_warning: gauge(
      'Bits of the critical warning of the drive; 0 is well.',
      {
        device: open,
      },
    ),
    chain_host_nvme_media_errors_total: externalCounter(
      'Errors that the drive could not correct.',
      {
        device: open,
      },
    ),
    chain_host_nvme_used_ratio: gauge('Share of the life of the drive that is used up.', {
      device: open,
    }),
    chain_service_max_file_descriptors: gauge(
      'Open files that the main process of the service may have.',
      { service: open },
    ),
    chain_service_open_file_descriptors: gauge(
      'Open files that the main process of the service has.',
      { service: open },
    ),
  },
} as const
