/** How agents look to people. */
import type { Agent } from '@lodge/sdk';
import { cell } from '../terminal/output.ts';
import type { Output, Style } from '../terminal/output.ts';
import { safeLine, safeText } from '../terminal/safe.ts';
import type { Column } from '../terminal/table.ts';
import { ago, yesNo } from '../terminal/words.ts';

const colours: Readonly<Record<string, Style>> = {
  running: 'green',
  provisioning: 'yellow',
  paused: 'blue',
  stopped: 'dim',
  error: 'red',
};

const painted = (out: Output, status: string, text: string): string =>
  Object.hasOwn(colours, status) ? out.paint(colours[status]!, text) : text;

/** The status, with the change that is under way. */
const statusOf = ({ status, transition }: Agent): string =>
  transition === null ? status : `${status} (${transition.kind} under way)`;

export const agentColumns = (out: Output): readonly Column<Agent>[] => [
  { title: 'id', value: ({ id }) => id, keep: true },
  { title: 'name', value: ({ name }) => name },
  {
    title: 'status',
    value: statusOf,
    keep: true,
    paint: (text, { status }) => painted(out, status, text),
  },
  { title: 'runtime', value: ({ runtime, runtime_kind }) => runtime?.name ?? runtime_kind },
  { title: 'model', value: ({ model }) => model },
  { title: 'size', value: ({ size }) => size },
  { title: 'age', value: ({ created_at }) => ago(created_at), align: 'right' },
];

/** All packages in one line; null when there are none. */
function packagesOf({ packages }: Agent): string | null {
  const lists = [packages.apt, packages.pip, packages.npm];
  return lists.flatMap((list) => list.map((name) => safeLine(name))).join(', ') || null;
}

/** All of an agent that a person looks for. */
export function agentFields(out: Output, agent: Agent): string {
  const { machine, disk, lifecycle, status_reason: reason } = agent;
  const limit = agent.spend_limit;
  const text = out.fields([
    ['id', cell(agent.id)],
    ['name', cell(agent.name)],
    ['status', painted(out, agent.status, safeLine(statusOf(agent)))],
    ['reason', reason === null ? null : safeLine(`${reason.message} (${reason.code})`)],
    ['description', cell(agent.description)],
    ['runtime', cell(agent.runtime === null ? agent.runtime_kind : `${agent.runtime.name} ${agent.runtime.version}`)],
    ['upgrade', agent.upgrade_available ? `available: lodge agents upgrade ${safeLine(agent.id)}` : null],
    ['model', cell(agent.model)],
    ['keys', agent.llm_keys.map(({ provider, last4 }) => safeLine(`${provider} (...${last4})`)).join(', ') || 'none'],
    ['size', safeLine(`${agent.size}: ${machine.vcpus} processors, ${machine.memory_mb} MB of memory`)],
    ['disk', safeLine(`${disk.used_gb ?? '?'} of ${disk.limit_gb} GB used`)],
    ['address', cell(agent.url)],
    ['browser', agent.browser ? `yes: lodge browser ${safeLine(agent.id)}` : null],
    ['channels', agent.channels.map(({ channel, status }) => safeLine(`${channel} (${status})`)).join(', ') || null],
    ['egress', cell(agent.egress.mode)],
    ['variables', Object.keys(agent.env).map(safeLine).join(', ') || null],
    ['packages', packagesOf(agent)],
    ['packages failed', cell(agent.packages_error)],
    [
      'spend limit',
      limit === null ? null : safeLine(`${limit.daily_usd ?? '-'} a day, ${limit.monthly_usd ?? '-'} a month, USD`),
    ],
    ['keep awake', cell(lifecycle.keep_awake)],
    ['wakes', `by requests ${yesNo(lifecycle.auto_resume)}, by messages ${yesNo(lifecycle.wake_on_message)}`],
    [
      'labels',
      Object.entries(agent.labels)
        .map(([name, value]) => safeLine(`${name}=${value}`))
        .join(', ') || null,
    ],
    [
      'metadata',
      Object.entries(agent.metadata)
        .map(([name, value]) => safeLine(`${name}=${value}`))
        .join(', ') || null,
    ],
    ['created', cell(`${agent.created_at} (${ago(agent.created_at)})`)],
    ['last active', cell(agent.last_active_at)],
  ]);
  return agent.instructions === null ? text : `${text}\n${indented(safeText(agent.instructions))}\n`;
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

/** One line after a change. */
export const agentLine = (agent: Agent): string =>
  `${safeLine(agent.name)} (${safeLine(agent.id)}) is ${safeLine(statusOf(agent))}.\n`;
