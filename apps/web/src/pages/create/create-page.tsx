import { getRouteApi } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { Page } from '../../components/page.tsx';
import { EmptyState } from '../../components/states.tsx';
import { useMay } from '../../session.ts';
import { CreateForm } from './create-form.tsx';
import { Progress } from './progress.tsx';

const route = getRouteApi('/app/agents/new');

export function CreatePage() {
  const { made, pair } = route.useSearch();
  if (!useMay('agents:write')) {
    return (
      <Page title="New agent">
        <div className="rounded-card border border-line bg-surface shadow-card">
          <EmptyState Icon={Lock} title="For members">
            Your role reads only. The owner of this Lodge can give you another.
          </EmptyState>
        </div>
      </Page>
    );
  }
  if (made !== undefined) return <Progress agentId={made} pair={pair} />;
  return (
    <Page
      title="New agent"
      description="A name and a model are enough. All of it but the runtime can be changed later."
    >
      <CreateForm />
    </Page>
  );
}
