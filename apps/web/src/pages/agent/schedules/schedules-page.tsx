import type { Schedule } from '@lodge/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { CalendarClock, Plus } from 'lucide-react';
import { backLinkClass, BackWords } from '../../../components/shown/links.tsx';
import { Badge } from '../../../components/badge.tsx';
import { buttonClass } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import type { Column } from '../../../components/data-table.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Card, LoadedCard } from '../../../components/shown/cards.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { useStepFocus } from '../../../components/form/focus.ts';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { NextRun } from './next-run.tsx';
import { schedulesQuery } from './queries.ts';
import { schedulesRoute } from '../routes.ts';
import { runWords } from './run-list.tsx';
import { ScheduleDetail } from './schedule-detail.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { whenWords } from './times.ts';

export function SchedulesPage() {
  const { schedule, form } = schedulesRoute.useSearch();
  const mayChange = useMay('agents:write');
  if (schedule !== undefined)
    return <OneSchedule key={`${schedule} ${form ?? ''}`} id={schedule} isEditing={mayChange && form === 'edit'} />;
  if (form === 'add' && mayChange) return <NewSchedule />;
  return <AllSchedules mayChange={mayChange} />;
}

/** The ways within this tab. */
function useGo() {
  const { id: agentId } = useAgent();
  const navigate = useNavigate();
  const go = (search: { schedule?: string; form?: 'add' | 'edit' }) =>
    void navigate({ to: schedulesRoute.to, params: { agentId }, search });
  return { agentId, go };
}

function Back() {
  const { id } = useAgent();
  return (
    <Link to={schedulesRoute.to} params={{ agentId: id }} search={{}} className={backLinkClass}>
      <BackWords>All schedules</BackWords>
    </Link>
  );
}

function NewSchedule() {
  useStepFocus();
  const { agentId, go } = useGo();
  return (
    <TabPage width="form" title="Schedules" actions={<Back />}>
      <ScheduleForm
        agentId={agentId}
        schedule={undefined}
        onDone={({ id }) => go({ schedule: id })}
        onCancel={() => go({})}
      />
    </TabPage>
  );
}

function OneSchedule({ id, isEditing }: { readonly id: string; readonly isEditing: boolean }) {
  useStepFocus();
  const { agentId, go } = useGo();
  const mayChange = useMay('agents:write');
  const schedules = useQuery(schedulesQuery(agentId));
  const schedule = schedules.data?.find((one) => one.id === id);
  return (
    <TabPage width={isEditing ? 'form' : 'normal'} title={schedule?.name ?? 'Schedule'} actions={<Back />}>
      <LoadedCard query={schedules}>
        {() => {
          if (schedule === undefined) {
            return (
              <Card>
                <EmptyState Icon={CalendarClock} title="There is no such schedule">
                  It may have been deleted.
                </EmptyState>
              </Card>
            );
          }
          return isEditing ? (
            <ScheduleForm
              agentId={agentId}
              schedule={schedule}
              onDone={() => go({ schedule: id })}
              onCancel={() => go({ schedule: id })}
            />
          ) : (
            <ScheduleDetail
              schedule={schedule}
              mayChange={mayChange}
              onEdit={() => go({ schedule: id, form: 'edit' })}
              onDeleted={() => go({})}
            />
          );
        }}
      </LoadedCard>
    </TabPage>
  );
}

function AllSchedules({ mayChange }: { readonly mayChange: boolean }) {
  useStepFocus();
  const { id } = useAgent();
  const schedules = useQuery(schedulesQuery(id));
  const add = mayChange && <AddLink agentId={id} />;
  return (
    <TabPage
      width="wide"
      title="Schedules"
      description="What the agent is told without anybody asking: at set times, at an interval, or once."
      actions={schedules.data?.length !== 0 && add}
    >
      <Card>
        <Loaded query={schedules}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={CalendarClock} title="No schedules yet" action={add}>
                A schedule tells the agent something at its times, such as “Summarise my inbox” each morning.
              </EmptyState>
            ) : (
              <DataTable label="Schedules" columns={columns} rows={data} keyOf={(one) => one.id} dimmed={isOff} />
            )
          }
        </Loaded>
      </Card>
    </TabPage>
  );
}

const isOff = ({ enabled }: Schedule): boolean => !enabled;

function AddLink({ agentId }: { readonly agentId: string }) {
  return (
    <Link to={schedulesRoute.to} params={{ agentId }} search={{ form: 'add' }} className={buttonClass('primary')}>
      <Plus aria-hidden className="size-4" />
      New schedule
    </Link>
  );
}

const columns: readonly Column<Schedule>[] = [
  {
    header: 'Name',
    cell: (one) => (
      <Link
        to={schedulesRoute.to}
        params={{ agentId: one.agent_id }}
        search={{ schedule: one.id }}
        className="wrap-anywhere text-accent hover:underline"
      >
        {one.name}
      </Link>
    ),
  },
  { header: 'When', cell: (one) => <span className="wrap-anywhere">{whenWords(one)}</span> },
  { header: 'Next run', cell: (one) => <NextRun schedule={one} /> },
  { header: 'Last run', cell: ({ last_run: last }) => <LastRun last={last} /> },
  {
    header: 'State',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'On' : 'Off'}</Badge>,
  },
];

function LastRun({ last }: { readonly last: Schedule['last_run'] }) {
  if (last === null) return <span className="text-muted">None</span>;
  const { label, tone } = runWords(last);
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone={tone}>{label}</Badge>
      <Time value={last.ended_at ?? last.scheduled_for} />
    </span>
  );
}
