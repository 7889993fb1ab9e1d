/** An agent's settings in the words of the API, on their way into an export and out of it. */
import { CreateAgent, CreateMember, CreateSchedule, maxMemberInstructionBytes, maxMembers } from '@lodge/contract';
import { Refusal, checkHasMembers, defaultRuntimeKind, defaultSize, maxSchedules } from '@lodge/domain';
import type { ImportedSettings, Manifest, Missing, ScheduleRow } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { AgentReplies } from '../../needs.ts';
import { validatorCompiler } from '../../pipeline/validation.ts';
import { agentRecord } from '../../reply/agent-record.ts';
import { inputOf } from '../agents/create.ts';
import { instructionsOf } from '../agents/fields.ts';
import { inputOf as scheduleInputOf, scheduleRecord } from '../schedules/shared.ts';

const {
  llm_keys: _keys,
  check_keys: _check,
  machine_size: _size,
  channels: _channels,
  from: _from,
  ...own
} = CreateAgent.properties;

/** A create without what an export never has. */
const ImportedFields = Type.Object(own, { additionalProperties: false });

const picked = (record: object, names: object): object =>
  Object.fromEntries(Object.entries(record).filter(([name, value]) => name in names && value !== undefined));

export const wordsOf = (needs: AgentReplies) => ({
  agent: (row: AgentRow): object => ({ ...picked(agentRecord(row, needs), own), dashboard: row.dashboard }),
  schedule: (row: ScheduleRow): object => picked(scheduleRecord(row), CreateSchedule.properties),
});

const checkAgent = checkOf(ImportedFields);
const checkMember = checkOf(CreateMember);
const checkSchedule = checkOf(CreateSchedule);

/** Checks what the manifest says by the contract of the requests that would make the same; refuses with the field. */
export function settingsOf(manifest: Manifest, name: string | undefined): ImportedSettings {
  const body = checkAgent('agent', manifest.agent) as CreateAgent;
  const input = inside('agent', () => inputOf(name === undefined ? body : { ...body, name }));
  const { runtimeKind = defaultRuntimeKind, size = defaultSize } = input;
  const { schedules, missing } = schedulesIn(manifest);
  return { agent: { ...input, runtimeKind, size }, members: membersIn(manifest, runtimeKind), schedules, missing };
}

function membersIn({ members: given }: Manifest, kind: ImportedSettings['agent']['runtimeKind']) {
  if (given.length === 0) return [];
  inside('members', () => checkHasMembers(kind));
  if (given.length > maxMembers) throw refused('members', `must have at most ${maxMembers} elements.`);
  const members = given.map((one, index) => {
    const member = checkMember(`members[${index}]`, one) as CreateMember;
    const instructions = inside(`members[${index}]`, () => instructionsOf(member) ?? null);
    return { name: member.name, model: member.model ?? null, instructions };
  });
  if (new Set(members.map(({ name }) => name)).size < members.length)
    throw refused('members', 'must have names of their own.');
  const bytes = members.reduce((sum, { instructions }) => sum + Buffer.byteLength(instructions ?? ''), 0);
  if (bytes > maxMemberInstructionBytes) throw refused('members', 'have instructions that are too long together.');
  return members;
}

/** One whose only time has passed is left out. */
function schedulesIn({ schedules: given }: Manifest) {
  if (given.length > maxSchedules) throw refused('schedules', `must have at most ${maxSchedules} elements.`);
  const now = new Date();
  const bodies = given.map((one, index) => checkSchedule(`schedules[${index}]`, one) as CreateSchedule);
  const isPast = ({ at }: CreateSchedule): boolean => at !== undefined && new Date(at) <= now;
  const missing = bodies.filter(isPast).map(({ name }): Missing => ({ kind: 'schedule', name }));
  const schedules = bodies
    .filter((body) => !isPast(body))
    .map((body) => {
      const { name, prompt, deliver, ...rest } = body;
      // It has no channels to deliver to.
      const answers = deliver?.to === 'channel' ? {} : deliver && { deliver };
      return { ...scheduleInputOf({ ...rest, ...answers }), name, prompt };
    });
  return { schedules, missing };
}

function checkOf(schema: TSchema): (place: string, given: unknown) => unknown {
  const check = validatorCompiler({ schema, method: '', url: '', httpPart: 'body' });
  return (place, given) => {
    if (typeof given !== 'object' || given === null) throw refused(place, 'must be an object.');
    const outcome = check(given) as { readonly value?: unknown; readonly error?: Error };
    if (outcome.error) throw refused(place, outcome.error.message);
    return outcome.value;
  };
}

const refused = (place: string, what: string): Refusal =>
  new Refusal('invalid_request', `The file cannot be imported: its ${place}: ${what}`);

/** Does the work; a refusal of it says where in the file its cause is. */
function inside<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? refused(place, error.message) : error;
  }
}
