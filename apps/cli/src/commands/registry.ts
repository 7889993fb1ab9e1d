/**
 * All commands, by group. A group is one file here that is loaded when it is asked for: `lodge --version` and `lodge --help` load
 * none. To add one, make its file with a default export of type `Define`, and add its line.
 */
import type { Command } from 'commander';
import type { On } from '../run.ts';

/** Adds the group's subcommands, arguments and actions to its command. */
export type Define = (command: Command, on: On) => void;

export interface Group {
  readonly name: string;
  readonly summary: string;
  /** The heading in the list of commands. */
  readonly heading: 'Agents' | 'Account' | 'Server' | 'Command line';
  /** Commands that a person does not type. */
  readonly isHidden?: true;
  readonly load: () => Promise<{ readonly default: Define }>;
}

export const groups: readonly Group[] = [
  { name: 'agents', heading: 'Agents', summary: 'list, make and control agents', load: () => import('./agents.ts') },
  {
    name: 'members',
    heading: 'Agents',
    summary: 'colleagues in the machine of an agent',
    load: () => import('./members.ts'),
  },
  { name: 'chat', heading: 'Agents', summary: 'talk to an agent', load: () => import('./chat.ts') },
  { name: 'apply', heading: 'Agents', summary: 'make agents what files say', load: () => import('./apply.ts') },
  {
    name: 'import',
    heading: 'Agents',
    summary: 'make agents of folders of OpenClaw and Hermes',
    load: () => import('./import.ts'),
  },
  { name: 'export', heading: 'Agents', summary: 'write agents as files', load: () => import('./export.ts') },
  {
    name: 'channels',
    heading: 'Agents',
    summary: 'connect agents with platforms of messages',
    load: () => import('./channels.ts'),
  },
  {
    name: 'messages',
    heading: 'Agents',
    summary: 'messages that came on channels',
    load: () => import('./messages.ts'),
  },
  {
    name: 'connections',
    heading: 'Agents',
    summary: 'services of others that an agent uses',
    load: () => import('./connections.ts'),
  },
  {
    name: 'schedules',
    heading: 'Agents',
    summary: 'what an agent does by itself, and when',
    load: () => import('./schedules.ts'),
  },
  {
    name: 'hooks',
    heading: 'Agents',
    summary: "third parties' requests as messages to an agent",
    load: () => import('./hooks.ts'),
  },
  { name: 'calls', heading: 'Agents', summary: 'calls of models that an agent made', load: () => import('./calls.ts') },
  {
    name: 'webhooks',
    heading: 'Account',
    summary: 'tell your servers what happens',
    load: () => import('./webhooks.ts'),
  },
  { name: 'keys', heading: 'Account', summary: 'API keys of the account', load: () => import('./keys.ts') },
  { name: 'logs', heading: 'Agents', summary: "an agent's log, as it grows", load: () => import('./logs.ts') },
  { name: 'exec', heading: 'Agents', summary: "run a command in an agent's machine", load: () => import('./exec.ts') },
  { name: 'shell', heading: 'Agents', summary: "open a shell on an agent's machine", load: () => import('./shell.ts') },
  { name: 'events', heading: 'Account', summary: 'what happened, as it happens', load: () => import('./events.ts') },
  { name: 'audit', heading: 'Account', summary: 'who changed what', load: () => import('./audit.ts') },
  { name: 'usage', heading: 'Account', summary: 'what agents used and what it cost', load: () => import('./usage.ts') },
  {
    name: 'cp',
    heading: 'Agents',
    summary: "copy files to and from an agent's workspace",
    load: () => import('./cp.ts'),
  },
  {
    name: 'files',
    heading: 'Agents',
    summary: "list and delete files of an agent's workspace",
    load: () => import('./files.ts'),
  },
  {
    name: 'sync',
    heading: 'Agents',
    summary: "keep a local folder in an agent's workspace",
    load: () => import('./sync.ts'),
  },
  { name: 'ports', heading: 'Agents', summary: "reach ports of an agent's machine", load: () => import('./ports.ts') },
  { name: 'open', heading: 'Agents', summary: "open an agent's pages in the browser", load: () => import('./open.ts') },
  {
    name: 'models',
    heading: 'Agents',
    summary: 'list agents and members as models',
    load: () => import('./models.ts'),
  },
  { name: 'mcp', heading: 'Agents', summary: 'serve agents as tools for models', load: () => import('./mcp.ts') },
  { name: 'login', heading: 'Account', summary: 'sign in to a deployment of Lodge', load: () => import('./login.ts') },
  { name: 'logout', heading: 'Account', summary: 'forget the key of a context', load: () => import('./logout.ts') },
  {
    name: 'account',
    heading: 'Account',
    summary: 'show the account and its spending',
    load: () => import('./account.ts'),
  },
  {
    name: 'limits',
    heading: 'Account',
    summary: 'show quotas, rates and spend limits',
    load: () => import('./limits.ts'),
  },
  { name: 'status', heading: 'Server', summary: 'show whether the server is ready', load: () => import('./status.ts') },
  { name: 'sizes', heading: 'Server', summary: 'list sizes of machines', load: () => import('./sizes.ts') },
  { name: 'providers', heading: 'Server', summary: 'list providers of models', load: () => import('./providers.ts') },
  {
    name: 'host',
    heading: 'Server',
    summary: 'commands of the operator, on the machine that runs Lodge',
    load: () => import('./host.ts'),
  },
  { name: 'api', heading: 'Server', summary: 'send any request of the API', load: () => import('./api.ts') },
  {
    name: 'context',
    heading: 'Command line',
    summary: 'choose between deployments',
    load: () => import('./context.ts'),
  },
  {
    name: 'completion',
    heading: 'Command line',
    summary: 'complete words in your shell',
    load: () => import('./completion.ts'),
  },
  { name: 'man', heading: 'Command line', summary: 'print the manual page', load: () => import('./man.ts') },
  {
    name: 'version',
    heading: 'Command line',
    summary: 'print the versions of both sides',
    load: () => import('./version.ts'),
  },
  {
    name: '__complete',
    heading: 'Command line',
    summary: 'complete words',
    isHidden: true,
    load: () => import('./complete.ts'),
  },
  {
    name: '__keyring',
    heading: 'Command line',
    summary: "ask the system's keyring",
    isHidden: true,
    load: () => import('./keyring.ts'),
  },
];
