import { defineConfigured } from '../../terminal/configured-command.ts'
import { readTime } from '../../terminal/option-values.ts'

/** `chain-agent bundle`: one archive for support, with secrets redacted. */
export const bundleCommand = defineConfigured({
  options: (command, { clock }) =>
    command
      .option('-o, --output <file>', 'the archive; default: chain-agent-bundle-TIME.tar.gz in the current directory')
      .option(
        '-S, --since <time>',
        'start of the logs, at most 5,000 lines or 2 MiB per service; default: an hour ago',
        readTime(clock),
      )
      .option('--no-logs', 'without the logs of the services'),
  help: `docs/how-to/support-bundle.md has the contents. Never key files, the environment
file, or commands and environment of units. Everything that looks like a secret
is redacted, and the manifest counts the redactions of each class. Nothing is
sent: review the archive before you send it. Only you can read the file, and no
file is overwritten.

Exit codes: 0 the archive was written, 1 it was not, 2 usage error.

Examples:
  chain-agent bundle
  chain-agent bundle --since 6h --output /tmp/for-support.tar.gz
  chain-agent bundle --no-logs`,
  load: async () => (await import('./action.ts')).bundle,
})
