import { Type } from 'typebox';
import type { Static, TObjectOptions } from 'typebox';
import { maxPromptChars, runStatuses } from '@lodge/domain';
import { AgentParams } from './agent-requests.ts';
import { answerDelivery, deliveryInput } from './answer-delivery.ts';
import { atMostOneOf, exactlyOneOf, withRules } from '../rules.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns, wholeList } from '../text.ts';

const name = Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text, examples: ['Morning report'] });
const cron = Type.String({
  maxLength: 100,
  pattern: patterns.text,
  description:
    'Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go ahead, a time that does not come comes at the end of the gap; where they go back, a time that comes twice is taken once. An expression with `*` or a step among minutes and hours runs by elapsed time instead.',
  examples: ['0 9 * * 1-5'],
});
const every = Type.String({
  maxLength: 7,
  pattern: patterns.text,
  description: 'An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval from now.',
  examples: ['15m'],
});
const atMeaning = 'One time.';
const timeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: patterns.text,
  description: 'A name of the time zone database.',
  default: 'UTC',
  examples: ['Europe/Berlin'],
});
const prompt = Type.String({
  minLength: 1,
  maxLength: maxPromptChars,
  pattern: patterns.text,
  description: 'What the agent is told. A line before it says which schedule it is, and for when.',
  examples: ['Summarise what happened since yesterday.'],
});
const conversation = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: patterns.text,
  description:
    "The agent's conversation that the runs go on with, as `user` names it in a chat. Without it the schedule has one of its own.",
});
const wake = Type.Boolean({
  description: 'False: an agent that does not run is left asleep, and the time is `skipped`.',
  default: true,
});
const enabled = Type.Boolean({ description: 'False: no time comes. It can be run by hand.', default: true });

const deliver = answerDelivery('the answer stays in the run', 'schedule.ran');

const runFields = {
  object: Type.Literal('schedule_run'),
  id: Type.String(),
  schedule_id: Type.String(),
  scheduled_for: Timestamp,
  started_at: nullable(Timestamp),
  ended_at: nullable(Timestamp),
  status: nullable(
    oneOf(runStatuses, {
      description:
        '`missed`: the time passed while the service was down, or the run could not begin. `skipped`: the run before was not over, or the agent was asleep and `wake` is false. Null: it waits, or is under way.',
    }),
  ),
  attempts: Type.Integer({
    description: 'How often its turn was begun; after a failure it is tried again up to three times.',
  }),
  cost: nullable(
    Type.String({
      description:
        "Decimal USD of the agent's model calls while the run was under way. Null: none of them had a known price.",
      examples: ['0.0123'],
    }),
  ),
  answer_preview: nullable(Type.String({ description: 'The first lines of the answer.' })),
  error: nullable(Type.String({ description: 'Why it is not `ok`, or what came of the attempt before.' })),
};

const runOf = (options: TObjectOptions) => Type.Object(runFields, { additionalProperties: false, ...options });

export const ScheduleRun = runOf({ title: 'ScheduleRun' });
export type ScheduleRun = Static<typeof ScheduleRun>;

export const ScheduleRunList = listOf(ScheduleRun, 'ScheduleRunList');

export const Schedule = Type.Object(
  {
    object: Type.Literal('schedule'),
    id: Type.String(),
    agent_id: Type.String({ pattern: patterns.agentId }),
    name,
    enabled,
    cron: Type.Optional(cron),
    every: Type.Optional(every),
    at: Type.Optional({ ...Timestamp, description: atMeaning }),
    time_zone: timeZone,
    prompt,
    conversation: Type.Optional(conversation),
    deliver,
    wake,
    next_run_at: nullable({ ...Timestamp, description: 'Null: it is not enabled, or its one time has passed.' }),
    last_run: nullable(runOf({ description: 'The newest that is not `missed`; null: there was none.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Schedule', additionalProperties: false },
);
export type Schedule = Static<typeof Schedule>;

export const ScheduleList = wholeList(Schedule, 'ScheduleList');

const at = Type.String({ format: 'date-time', maxLength: 40, pattern: patterns.timestamp, description: atMeaning });

const scheduleFields = {
  name,
  enabled: Type.Optional(enabled),
  cron: Type.Optional(cron),
  every: Type.Optional(every),
  at: Type.Optional(at),
  time_zone: Type.Optional(timeZone),
  prompt,
  conversation: Type.Optional(nullable(conversation)),
  deliver: Type.Optional(deliveryInput(deliver)),
  wake: Type.Optional(wake),
};

export const CreateSchedule = withRules(
  Type.Object(scheduleFields, {
    title: 'CreateSchedule',
    additionalProperties: false,
    description: 'With exactly one of `cron`, `every` and `at`.',
    examples: [
      {
        name: 'Morning report',
        cron: '0 9 * * 1-5',
        time_zone: 'Europe/Berlin',
        prompt: 'Summarise what happened since yesterday.',
        deliver: { to: 'none' },
      },
    ],
  }),
  exactlyOneOf('cron', 'every', 'at'),
);
export type CreateSchedule = Static<typeof CreateSchedule>;

export const UpdateSchedule = withRules(
  Type.Object(
    { ...scheduleFields, name: Type.Optional(name), prompt: Type.Optional(prompt) },
    {
      title: 'UpdateSchedule',
      additionalProperties: false,
      description: 'Only what is given changes. One of `cron`, `every` and `at` takes the place of the one before.',
      examples: [{ enabled: false }],
    },
  ),
  atMostOneOf('cron', 'every', 'at'),
);
export type UpdateSchedule = Static<typeof UpdateSchedule>;

export const ScheduleParams = Type.Object({
  ...AgentParams.properties,
  schedule: Type.String({ description: "The schedule's id." }),
});

export const ListRunsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Runs per page.' })),
    cursor: pageCursor(),
  },
  { additionalProperties: false },
);

export const DeletedSchedule = Type.Object(
  { object: Type.Literal('schedule.deleted'), id: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedSchedule', additionalProperties: false },
);
