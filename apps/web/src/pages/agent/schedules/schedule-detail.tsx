import type { Schedule } from '@lodge/sdk';
import { Badge } from '../../../components/badge.tsx';
import { FactList } from '../../../components/shown/facts.tsx';
import { Section } from '../../../components/page.tsx';
import { deliverWords } from '../answers/deliver.ts';
import { NextRun } from './next-run.tsx';
import { RunList } from './run-list.tsx';
import { whenWords } from './times.ts';
import { ScheduleVerbs } from './verbs.tsx';

interface DetailProps {
  readonly schedule: Schedule;
  readonly mayChange: boolean;
  readonly onEdit: () => void;
  readonly onDeleted: () => void;
}

export function ScheduleDetail({ schedule, mayChange, onEdit, onDeleted }: DetailProps) {
  return (
    <>
      <Section
        title="Schedule"
        actions={mayChange && <ScheduleVerbs schedule={schedule} onEdit={onEdit} onDeleted={onDeleted} />}
      >
        <div className="flex flex-col gap-5 px-5 py-5 sm:px-6">
          <FactList
            facts={[
              ['State', <Badge tone={schedule.enabled ? 'good' : 'quiet'}>{schedule.enabled ? 'On' : 'Off'}</Badge>],
              ['When', whenWords(schedule)],
              ['Time zone', schedule.cron === undefined ? null : schedule.time_zone],
              ['Next run', <NextRun schedule={schedule} />],
              ['Answer', deliverWords(schedule.deliver, 'Kept with the run')],
              ['Conversation', schedule.conversation ?? 'One of its own'],
              ['A sleeping agent', schedule.wake ? 'is woken' : 'is left asleep'],
            ]}
          />
          <div className="flex flex-col gap-1.5">
            <h3 className="font-medium">What the agent is told</h3>
            <p
              tabIndex={0}
              className="max-h-72 overflow-y-auto rounded-control bg-sunken px-3.5 py-2.5 whitespace-pre-wrap wrap-anywhere"
            >
              {schedule.prompt}
            </p>
          </div>
        </div>
      </Section>
      <RunList agentId={schedule.agent_id} schedule={schedule.id} />
    </>
  );
}
