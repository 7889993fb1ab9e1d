import { getRouteApi } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { FilterSelect } from '../../../components/form/filter-select.tsx';
import { Button } from '../../../components/button.tsx';
import { Failure } from '../../../components/notice.tsx';
import { TabPage } from '../../../components/page.tsx';
import { EmptyState, ErrorState, SkeletonRows } from '../../../components/states.tsx';
import { Time } from '../../../components/time.tsx';
import { formatDate } from '../../../format.ts';
import { useAgent } from '../queries.ts';
import { CallDialog } from './call-dialog.tsx';
import { ItemRow } from './item-row.tsx';
import { activityKinds, isKind } from './kinds.ts';
import type { ActivityKind } from './kinds.ts';
import { isOfKind } from './timeline.ts';
import type { Item } from './timeline.ts';
import { useTimeline } from './use-timeline.ts';

const route = getRouteApi('/app/agents/$agentId/activity');

/** Lists the turns and events of the agent, newest first. */
export function ActivityPage() {
  const { id } = useAgent();
  const { kind, call } = route.useSearch();
  const navigate = route.useNavigate();
  const timeline = useTimeline(id);
  const open = (callId: string | undefined): void =>
    void navigate({
      search: { ...(kind && { kind }), ...(callId !== undefined && { call: callId }) },
      resetScroll: false,
    });
  return (
    <TabPage
      title="Activity"
      description="Turns, whoever began them, with the model calls of each, and all else that happened."
      actions={
        <FilterSelect
          label="Kind"
          all="Everything"
          value={kind}
          options={Object.entries(activityKinds)}
          onChange={(value) => void navigate({ search: isKind(value) ? { kind: value } : {} })}
        />
      }
    >
      <div className="rounded-card border border-line bg-surface shadow-card">
        {timeline.items === undefined ? (
          timeline.error === null ? (
            <SkeletonRows rows={6} />
          ) : (
            <ErrorState error={timeline.error} retry={timeline.refetch} pending={timeline.isFetching} />
          )
        ) : (
          <Days items={timeline.items.filter((item) => isOfKind(item, kind))} kind={kind} onCall={open} />
        )}
        {timeline.horizon !== undefined && <More timeline={timeline} horizon={timeline.horizon} />}
      </div>
      {call !== undefined && <CallDialog agentId={id} callId={call} onClose={() => open(undefined)} />}
    </TabPage>
  );
}

interface DaysProps {
  readonly items: readonly Item[];
  readonly kind: ActivityKind | undefined;
  readonly onCall: (callId: string) => void;
}

function Days({ items, kind, onCall }: DaysProps) {
  if (items.length === 0) {
    return (
      <EmptyState Icon={Activity} title={kind === undefined ? 'Nothing happened yet' : 'Nothing of this kind'}>
        {kind === undefined
          ? 'Turns of the agent, its model calls, and changes of its machine are listed here.'
          : 'Choose another kind, or look further back.'}
      </EmptyState>
    );
  }
  const days = Map.groupBy(items, ({ at }) => formatDate(new Date(at)));
  return [...days].map(([day, all]) => (
    <section key={day} aria-label={day}>
      <h3 className="border-b border-line bg-sunken px-5 py-2 text-[0.8125rem] font-medium text-muted first:rounded-t-card sm:px-6">
        {day}
      </h3>
      <ol className="divide-y divide-line border-b border-line last:border-b-0">
        {all.map((item) => (
          <ItemRow key={keyOf(item)} item={item} onCall={onCall} />
        ))}
      </ol>
    </section>
  ));
}

const keyOf = (item: Item): string =>
  item.type === 'event' ? `event-${item.event.id}` : `work-${item.calls[0]?.id ?? item.at}`;

function More({ timeline, horizon }: { timeline: ReturnType<typeof useTimeline>; horizon: string }) {
  return (
    <div className="flex flex-col items-center gap-2 border-t border-line px-5 py-3">
      <Failure error={timeline.moreError} />
      <Button small variant="ghost" pending={timeline.isFetchingMore} onClick={timeline.fetchMore}>
        Show more
      </Button>
      <p className="text-xs text-muted">
        Shown since <Time value={horizon} />.
      </p>
    </div>
  );
}
