/** `lodge mcp`: Lodge's tools for models over stdin and stdout, with the key of the context. Clients of MCP start it. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { version } from '../../version.ts';

export default function mcp(command: Command, on: On): void {
  command.description(
    'Serve agents, files, logs, usage and schedules as tools of the Model Context Protocol over stdin and stdout. A client such as Claude Code or Cursor starts it. It ends with its stdin; what it has to say besides goes to stderr.',
  );
  examples(
    command,
    ['claude mcp add lodge -- lodge mcp', 'let Claude Code use the agents of the current context'],
    ['lodge mcp --context work', 'serve another context'],
  ).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const { serveStdio } = await import('@lodge/mcp');
      const { stdin, stdout } = process;
      await serveStdio(lodge, {
        version,
        stdin,
        stdout,
        signal: run.signal,
        onError: (error) => run.out.writeError(`A tool failed: ${String(error)}\n`),
      });
    }),
  );
}
