import { gauge, histogram } from './metric.ts'

/** The metrics of a process, of the agent and of the query service. */
export const ofProcess = {
  introduction:
    'The process, of the agent and of the query service. Each reads its configuration at start-up and on SIGHUP (`systemctl reload`).',
  metrics: {
    chain_agent_event_loop_delay_seconds: histogram(
      'How late a timer of 500 ms was, in seconds: the delay of everything that the process does.',
      [0.01, 0.1, 0.5, 1.5],
    ),
    chain_agent_config_last_reload_successful: gauge('Whether the last attempt to load the configuration succeeded.'),
    chain_agent_config_last_reload_success_timestamp_seconds: gauge(
      'Time at which the configuration was last loaded without an error.',
    ),
  },
} as const
