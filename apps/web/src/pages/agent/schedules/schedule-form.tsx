import type { CreateSchedule, Schedule } from '@lodge/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { CheckField } from '../../../components/form/check-field.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { FormSection } from '../../../components/form/form-section.tsx';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import { toast } from '../../../components/toasts/toasts.tsx';
import { changedParts } from '../../../components/form/changed.ts';
import type { Problems } from '../../../components/form/use-form.ts';
import { text, useForm } from '../../../components/form/use-form.ts';
import { DeliverField } from '../answers/deliver-field.tsx';
import { checkDeliver, deliverOf } from '../answers/deliver.ts';
import type { DeliverName } from '../answers/deliver.ts';
import { Meaning } from './meaning.tsx';
import { scheduleChanges } from './queries.ts';
import { TimeFields } from './time-fields.tsx';
import { checkTimes, freshTimes, hereZone, timesOf, timingOf } from './times.ts';
import type { TimeName } from './times.ts';

type Name = 'name' | 'prompt' | TimeName | DeliverName;

const maxPromptChars = 16_384;

function check(data: FormData): Problems<Name> {
  const problems: Problems<Name> = { ...checkTimes(data), ...checkDeliver(data) };
  if (text(data, 'name').trim() === '') problems.name = 'Enter a name.';
  if (text(data, 'prompt').trim() === '') problems.prompt = 'Say what the agent is to do.';
  return problems;
}

const bodyOf = (data: FormData): CreateSchedule => {
  const conversation = text(data, 'conversation').trim();
  return {
    name: text(data, 'name').trim(),
    ...timingOf(data),
    time_zone: text(data, 'time_zone'),
    prompt: text(data, 'prompt'),
    conversation: conversation === '' ? null : conversation,
    deliver: deliverOf(data),
    wake: data.has('wake'),
    enabled: data.has('enabled'),
  };
};

interface FormProps {
  readonly agentId: string;
  /** Undefined: a new one is made. */
  readonly schedule: Schedule | undefined;
  readonly onDone: (schedule: Schedule) => void;
  readonly onCancel: () => void;
}

export function ScheduleForm({ agentId, schedule, onDone, onCancel }: FormProps) {
  const queryClient = useQueryClient();
  const form = useForm<Name, Schedule>({
    keep: `schedule:${agentId}:${schedule?.id ?? ''}`,
    check,
    send: (data, before) => {
      const changes = scheduleChanges(agentId);
      return schedule === undefined
        ? changes.create(bodyOf(data))
        : changes.update(schedule.id, changedParts(bodyOf(before), bodyOf(data)));
    },
    done: async (saved) => {
      await queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'schedules'] });
      toast(schedule === undefined ? 'The schedule is made.' : 'The schedule is saved.');
      onDone(saved);
    },
  });
  return (
    <FormSection
      title={schedule === undefined ? 'New schedule' : 'Edit the schedule'}
      label="Schedule"
      form={form}
      submit={schedule === undefined ? 'Create schedule' : 'Save schedule'}
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        name="name"
        maxLength={100}
        autoComplete="off"
        placeholder="Morning report"
        defaultValue={schedule?.name}
        error={form.problems.name}
      />
      <TimeFields
        times={schedule === undefined ? freshTimes : timesOf(schedule)}
        zone={schedule?.time_zone ?? hereZone}
        problems={form.problems}
      />
      <Meaning />
      <TextAreaField
        label="What the agent is told"
        name="prompt"
        rows={5}
        maxLength={maxPromptChars}
        defaultValue={schedule?.prompt}
        placeholder="Summarise what is new in /workspace/inbox since yesterday, in five lines."
        error={form.problems.prompt}
      />
      <DeliverField
        agentId={agentId}
        deliver={schedule?.deliver ?? { to: 'none' }}
        kept="It is kept with the run."
        problems={form.problems}
      />
      <More schedule={schedule} />
    </FormSection>
  );
}

function More({ schedule }: { readonly schedule: Schedule | undefined }) {
  return (
    <>
      <TextField
        label="Conversation"
        optional
        name="conversation"
        maxLength={256}
        autoComplete="off"
        defaultValue={schedule?.conversation}
        hint="A conversation of the agent that the runs go on with. Without it the schedule has one of its own."
      />
      <CheckField
        label="Wake the agent"
        name="wake"
        defaultChecked={schedule?.wake ?? true}
        hint="Else a time that comes while it sleeps is skipped."
      />
      <CheckField
        label="On"
        name="enabled"
        defaultChecked={schedule?.enabled ?? true}
        hint="Off, no time comes. It can still be run by hand."
      />
    </>
  );
}
