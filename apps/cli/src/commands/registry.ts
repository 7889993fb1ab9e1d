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
  {
    name: 'agents',
    heading: 'Agents',
    summary: 'list, make and control agents',
    load: () => import('./agents/agents.ts'),
  },
  {
    name: 'members',
    heading: 'Agents',
    summary: 'colleagues in the machine of an agent',
    load: () => import('./agents/members.ts'),
  },
  { name: 'chat', heading: 'Agents', summary: 'talk to an agent', load: () => import('./agents/chat.ts') },
  { name: 'apply', heading: 'Agents', summary: 'make agents what files say', load: () => import('./agents/apply.ts') },
  {
    name: 'import',
    heading: 'Agents',
    summary: 'make agents of folders of OpenClaw and Hermes',
    load: () => import('./agents/import.ts'),
  },
  { name: 'export', heading: 'Agents', summary: 'write agents as files', load: () => import('./agents/export.ts') },
  {
    name: 'browser',
    heading: 'Agents',
    summary: 'the browser in the machine of an agent',
    load: () => import('./agents/browser.ts'),
  },
  {
    name: 'channels',
    heading: 'Agents',
    summary: 'connect agents with platforms of messages',
    load: () => import('./agents/channels.ts'),
  },
  {
    name: 'messages',
    heading: 'Agents',
    summary: 'messages that came on channels',
    load: () => import('./agents/messages.ts'),
  },
  {
    name: 'connections',
    heading: 'Agents',
    summary: 'services of others that an agent uses',
    load: () => import('./agents/connections.ts'),
  },
  {
    name: 'schedules',
    heading: 'Agents',
    summary: 'what an agent does by itself, and when',
    load: () => import('./agents/schedules.ts'),
  },
  {
    name: 'snapshots',
    heading: 'Agents',
    summary: 'machines of agents as they were',
    load: () => import('./agents/snapshots.ts'),
  },
  {
    name: 'hooks',
    heading: 'Agents',
    summary: "third parties' requests as messages to an agent",
    load: () => import('./agents/hooks.ts'),
  },
  {
    name: 'calls',
    heading: 'Agents',
    summary: 'calls of models that an agent made',
    load: () => import('./agents/calls.ts'),
  },
  {
    name: 'webhooks',
    heading: 'Account',
    summary: 'tell your servers what happens',
    load: () => import('./account/webhooks.ts'),
  },
  {
    name: 'skills',
    heading: 'Account',
    summary: 'the skills library, and skills of agents',
    load: () => import('./account/skills.ts'),
  },
  {
    name: 'confirmations',
    heading: 'Account',
    summary: 'calls of agents that wait for a yes',
    load: () => import('./account/confirmations.ts'),
  },
  { name: 'keys', heading: 'Account', summary: 'API keys of the account', load: () => import('./account/keys.ts') },
  { name: 'logs', heading: 'Agents', summary: "an agent's log, as it grows", load: () => import('./machine/logs.ts') },
  {
    name: 'exec',
    heading: 'Agents',
    summary: "run a command in an agent's machine",
    load: () => import('./machine/exec.ts'),
  },
  {
    name: 'shell',
    heading: 'Agents',
    summary: "open a shell on an agent's machine",
    load: () => import('./machine/shell.ts'),
  },
  {
    name: 'events',
    heading: 'Account',
    summary: 'what happened, as it happens',
    load: () => import('./account/events.ts'),
  },
  { name: 'audit', heading: 'Account', summary: 'who changed what', load: () => import('./account/audit.ts') },
  {
    name: 'usage',
    heading: 'Account',
    summary: 'what agents used and what it cost',
    load: () => import('./account/usage.ts'),
  },
  {
    name: 'cp',
    heading: 'Agents',
    summary: "copy files to and from an agent's workspace",
    load: () => import('./machine/cp.ts'),
  },
  {
    name: 'files',
    heading: 'Agents',
    summary: "list and delete files of an agent's workspace",
    load: () => import('./machine/files.ts'),
  },
  {
    name: 'sync',
    heading: 'Agents',
    summary: "keep a local folder in an agent's workspace",
    load: () => import('./machine/sync.ts'),
  },
  {
    name: 'ports',
    heading: 'Agents',
    summary: "reach ports of an agent's machine",
    load: () => import('./machine/ports.ts'),
  },
  {
    name: 'open',
    heading: 'Agents',
    summary: "open an agent's pages in the browser",
    load: () => import('./machine/open.ts'),
  },
  {
    name: 'models',
    heading: 'Agents',
    summary: 'list agents and members as models',
    load: () => import('./agents/models.ts'),
  },
  {
    name: 'mcp',
    heading: 'Agents',
    summary: 'serve agents as tools for models',
    load: () => import('./agents/mcp.ts'),
  },
  {
    name: 'login',
    heading: 'Account',
    summary: 'sign in to a deployment of Lodge',
    load: () => import('./account/login.ts'),
  },
  {
    name: 'logout',
    heading: 'Account',
    summary: 'forget the key of a context',
    load: () => import('./account/logout.ts'),
  },
  {
    name: 'account',
    heading: 'Account',
    summary: 'show the account and its spending',
    load: () => import('./account/account.ts'),
  },
  {
    name: 'limits',
    heading: 'Account',
    summary: 'show quotas, rates and spend limits',
    load: () => import('./account/limits.ts'),
  },
  {
    name: 'status',
    heading: 'Server',
    summary: 'show whether the server is ready',
    load: () => import('./service/status.ts'),
  },
  { name: 'sizes', heading: 'Server', summary: 'list sizes of machines', load: () => import('./service/sizes.ts') },
  {
    name: 'providers',
    heading: 'Server',
    summary: 'list providers of models',
    load: () => import('./service/providers.ts'),
  },
  {
    name: 'host',
    heading: 'Server',
    summary: 'commands of the operator, on the machine that runs Lodge',
    load: () => import('./service/host.ts'),
  },
  { name: 'api', heading: 'Server', summary: 'send any request of the API', load: () => import('./service/api.ts') },
  {
    name: 'context',
    heading: 'Command line',
    summary: 'choose between deployments',
    load: () => import('./command-line/context.ts'),
  },
  {
    name: 'completion',
    heading: 'Command line',
    summary: 'complete words in your shell',
    load: () => import('./command-line/completion.ts'),
  },
  {
    name: 'man',
    heading: 'Command line',
    summary: 'print the manual page',
    load: () => import('./command-line/man.ts'),
  },
  {
    name: 'version',
    heading: 'Command line',
    summary: 'print the versions of both sides',
    load: () => import('./command-line/version.ts'),
  },
  {
    name: '__complete',
    heading: 'Command line',
    summary: 'complete words',
    isHidden: true,
    load: () => import('./command-line/complete.ts'),
  },
  {
    name: '__keyring',
    heading: 'Command line',
    summary: "ask the system's keyring",
    isHidden: true,
    load: () => import('./command-line/keyring.ts'),
  },
];
