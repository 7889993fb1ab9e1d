import type { Schedule, ScheduleRun } from '@lodge/sdk';
import * as z from 'zod';
import { agentId, cursor, limitOf, nextCursor, timeZone } from '../inputs.ts';
import { cutText } from '../text.ts';
import { adds, destroys, fitting, reads, tool } from '../tool.ts';
import type { Tool } from '../tool.ts';

const maxPromptBytes = 2048;
const maxPreviewBytes = 500;

const scheduleId = z
  .string()
  .regex(/^[\w-]{1,64}$/)
  .describe('Id of the schedule, as list_schedules shows it.');

const times = {
  cron: z.string().min(1).max(100).optional().describe('Five fields in time_zone, such as 0 9 * * 1-5.'),
  every: z.string().min(2).max(7).optional().describe('An interval such as 15m, 6h or 2d.'),
  at: z.string().min(10).max(40).optional().describe('One time, such as 2026-01-31T12:00:00Z.'),
};

const fields = {
  name: z.string().min(1).max(100),
  prompt: z.string().min(1).max(16_384).describe('What the agent is told each time.'),
  ...times,
  time_zone: timeZone,
  conversation: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The conversation that runs go on with, as in ask_agent. By default the schedule has its own.'),
  wake: z.boolean().optional().describe('false: a time is skipped while the agent sleeps. true by default.'),
  enabled: z.boolean().optional().describe('false: no time comes. true by default.'),
};

const run = z.object({
  id: z.string(),
  scheduled_for: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  status: z.string().nullable().describe('null: it waits, or is under way.'),
  cost_usd: z.string().nullable(),
  answer_preview: z.string().nullable().describe("The first lines of the agent's answer, in its own words."),
  error: z.string().nullable(),
});

const schedule = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  cron: z.string().optional(),
  every: z.string().optional(),
  at: z.string().optional(),
  time_zone: z.string(),
  prompt: z.string().describe('Long ones are cut.'),
  next_run_at: z.string().nullable(),
  last_run: run.nullable(),
});

const cutOrNull = (text: string | null): string | null => (text === null ? null : cutText(text, maxPreviewBytes).text);

function runOf({ id, scheduled_for, started_at, ended_at, status, cost, answer_preview, error }: ScheduleRun) {
  const texts = { answer_preview: cutOrNull(answer_preview), error: cutOrNull(error) };
  return { id, scheduled_for, started_at, ended_at, status, cost_usd: cost, ...texts };
}

function scheduleOf(given: Schedule): z.output<typeof schedule> {
  const { id, name, enabled, cron, every, at, time_zone, prompt, next_run_at, last_run } = given;
  return {
    id,
    name,
    enabled,
    ...(cron !== undefined && { cron }),
    ...(every !== undefined && { every }),
    ...(at !== undefined && { at }),
    time_zone,
    prompt: cutText(prompt, maxPromptBytes).text,
    next_run_at,
    last_run: last_run === null ? null : runOf(last_run),
  };
}

const listSchedules = tool({
  name: 'list_schedules',
  title: 'List schedules',
  description: 'Lists the schedules of an agent: what it is told by itself, when, and how the last run went.',
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Lists schedules',
  input: z.strictObject({ agent_id: agentId }),
  output: z.object({ schedules: z.array(schedule), left_out: z.number() }),
  run: async ({ agent_id }, { lodge, signal }) => {
    const { data } = await lodge.schedules.list(agent_id, { signal });
    const { items, leftOut } = fitting(data.map(scheduleOf));
    return { structured: { schedules: items, left_out: leftOut } };
  },
});

const createSchedule = tool({
  name: 'create_schedule',
  title: 'Create a schedule',
  description:
    'Makes an agent get a prompt by itself: give exactly one of cron, every and at. Each run is a turn of the agent and costs money. The answers are kept with the runs.',
  scopes: ['agents:write'],
  annotations: adds,
  doing: 'Creates the schedule',
  input: z.strictObject({ agent_id: agentId, ...fields }),
  output: schedule,
  run: async ({ agent_id, ...body }, { lodge, signal }) => ({
    structured: scheduleOf(await lodge.schedules.create(agent_id, body, { signal })),
  }),
});

const updateSchedule = tool({
  name: 'update_schedule',
  title: 'Change a schedule',
  description:
    'Changes a schedule. Each field that is given replaces the one there is; one of cron, every and at takes the place of the time before. enabled: false holds it.',
  scopes: ['agents:write'],
  annotations: destroys,
  doing: 'Changes the schedule',
  input: z.strictObject({
    agent_id: agentId,
    schedule_id: scheduleId,
    ...fields,
    name: fields.name.optional(),
    prompt: fields.prompt.optional(),
  }),
  output: schedule,
  run: async ({ agent_id, schedule_id, ...body }, { lodge, signal }) => ({
    structured: scheduleOf(await lodge.schedules.update(agent_id, schedule_id, body, { signal })),
  }),
});

const one = z.strictObject({ agent_id: agentId, schedule_id: scheduleId });

const deleteSchedule = tool({
  name: 'delete_schedule',
  title: 'Delete a schedule',
  description: 'Deletes a schedule with the record of its runs. Nothing brings it back; update_schedule can hold it.',
  scopes: ['agents:write'],
  annotations: destroys,
  doing: 'Deletes the schedule',
  input: one,
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  run: async ({ agent_id, schedule_id }, { lodge, signal }) => {
    const { id } = await lodge.schedules.delete(agent_id, schedule_id, { signal });
    return { structured: { id, deleted: true as const } };
  },
});

const runSchedule = tool({
  name: 'run_schedule',
  title: 'Run a schedule now',
  description:
    'Begins a run of a schedule now, also of one that is not enabled, and does not wait for its end: list_schedule_runs shows how it went.',
  scopes: ['agents:write'],
  annotations: { ...adds, openWorldHint: true },
  doing: 'Begins the run',
  input: one,
  output: run,
  run: async ({ agent_id, schedule_id }, { lodge, signal }) => ({
    structured: runOf(await lodge.schedules.run(agent_id, schedule_id, {}, { signal })),
  }),
});

const listRuns = tool({
  name: 'list_schedule_runs',
  title: 'List runs of a schedule',
  description:
    'Lists the runs of a schedule, newest first: when, how each ended, what it cost, and how its answer began.',
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Lists runs',
  input: z.strictObject({
    agent_id: agentId,
    schedule_id: scheduleId,
    limit: limitOf(50, 20, 'runs'),
    cursor,
  }),
  output: z.object({ runs: z.array(run), next_cursor: nextCursor }),
  run: async ({ agent_id, schedule_id, limit, cursor }, { lodge, signal }) => {
    const page = await lodge.schedules.runs(agent_id, schedule_id, { limit, ...(cursor && { cursor }) }, { signal });
    return { structured: { runs: page.data.map(runOf), next_cursor: page.next_cursor } };
  },
});

export const scheduleTools: readonly Tool[] = [
  listSchedules,
  createSchedule,
  updateSchedule,
  deleteSchedule,
  runSchedule,
  listRuns,
];
