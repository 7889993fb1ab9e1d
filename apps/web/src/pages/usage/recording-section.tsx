import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { queries } from '../../queries.ts';
import { useAccount, useMay } from '../../session.ts';

/** Switches the recording of model calls' contents. */
export function RecordingSection() {
  const queryClient = useQueryClient();
  const { record_llm_calls: on } = useAccount();
  const mayChange = useMay('agents:write');
  const change = useMutation({
    mutationFn: () => api.updateAccount({ record_llm_calls: !on }),
    onSuccess: async () => {
      await queryClient.invalidateQueries(queries.session);
      toast(on ? 'Model calls are no longer recorded.' : 'Model calls are recorded from now on.');
    },
  });
  return (
    <Section
      title="Recording"
      description="Keeps what your agents ask their models, and the answers, for some days."
      actions={
        mayChange && (
          <Button
            aria-label={on ? 'Turn off recording' : 'Turn on recording'}
            pending={change.isPending}
            onClick={() => change.mutate()}
          >
            {on ? 'Turn off' : 'Turn on'}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3 px-5 py-4 sm:px-6">
        <div className="flex items-baseline gap-3">
          {on ? <Badge tone="good">On</Badge> : <Badge tone="quiet">Off</Badge>}
          <span className="text-muted">
            {on
              ? 'Every key of yours that may see usage can read what is said.'
              : 'Only tokens, cost and times of each call are kept.'}
          </span>
        </div>
        <Failure error={change.error} />
      </div>
    </Section>
  );
}
