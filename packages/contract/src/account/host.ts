import { agentStatuses } from '@lodge/domain';
import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { Timestamp, nullable, oneOf } from '../text.ts';

const strict = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) });
const mib = (description?: string) => Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const count = mib;

const HostAgent = strict({
  id: Type.String(),
  name: nullable(Type.String({ description: "Null for an agent of another person's." })),
  account_id: Type.String(),
  status: oneOf(agentStatuses),
  memory_mib: nullable(mib('Share of the memory of the host; null when it was not read.')),
  disk_mib: mib(),
  snapshot_mib: mib('Saved memory of a stopped agent.'),
});

const Finding = strict({
  name: Type.String({ examples: ['KVM'] }),
  state: oneOf(['fail', 'warn', 'note'], {
    description: '`fail`: it must not stay so. `warn`: something is weak. `note`: there is something to know.',
  }),
  detail: Type.String(),
  advice: nullable(Type.String()),
});

export const Host = Type.Object(
  {
    object: Type.Literal('host'),
    looked_at: Timestamp,
    memory: nullable(
      strict(
        {
          total_mib: mib(),
          available_mib: mib(),
          agents_mib: nullable(mib('Held by the machines that were read.')),
        },
        'Null while the host does not answer.',
      ),
    ),
    disk: nullable(
      strict(
        {
          total_mib: mib('Of the file system of the disks of agents.'),
          free_mib: mib(),
          agents_mib: nullable(mib('Held by disks and saved memory of agents.')),
        },
        'Null while the host does not answer.',
      ),
    ),
    agents: nullable(
      strict(
        {
          total: count('Of all people.'),
          by_status: Type.Array(strict({ status: oneOf(agentStatuses), count: count() })),
          unread: count('Awake machines whose memory was not read.'),
          top: Type.Array(HostAgent, { description: 'Those that hold the most, first.' }),
        },
        'Null while the host does not answer.',
      ),
    ),
    templates: Type.Array(
      strict({
        runtime: Type.String({ examples: ['openclaw'] }),
        state: oneOf(['building', 'early', 'ready', 'failed'], {
          description: '`early`: agents are made from it, and it is still warmed up.',
        }),
        step: Type.String({ description: 'What is being done, or why it failed.' }),
        fraction: nullable(Type.Number({ minimum: 0, maximum: 1 })),
        since: Timestamp,
      }),
    ),
    versions: strict({
      lodge: Type.String({ examples: ['0.1.0'] }),
      runtimes: Type.Array(
        strict({
          runtime: Type.String(),
          current: nullable(Type.String({ description: 'Of new agents; null while its template is made.' })),
          newest: nullable(Type.String({ description: 'The one that an upgrade brings.' })),
          outdated_agents: count('Agents that an upgrade would bring something.'),
        }),
      ),
    }),
    findings: nullable(
      Type.Array(Finding, {
        description: 'What the checks of `doctor` found that is not in order, worst first. Null: not looked at yet.',
      }),
    ),
    unseen: Type.Array(Type.String(), { description: 'Checks that only `doctor` as root can make.' }),
    backups: nullable(
      strict({
        place: nullable(Type.String({ description: 'Where they are made by themselves; null: nobody set a place.' })),
        times: Type.Array(Type.String({ examples: ['03:30'] }), { description: 'Of the day, in UTC.' }),
        last: nullable(
          strict({ made_at: Timestamp, place: Type.String(), name: Type.String() }, 'The last whole backup.'),
        ),
        is_known: Type.Boolean({ description: 'False: only root may read the note of the last one.' }),
      }),
    ),
  },
  { title: 'Host', additionalProperties: false },
);
