import { useQuery } from '@tanstack/react-query';
import { EthernetPort, Lock, Plus } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { useOpen } from '../../../components/form/use-typed.ts';
import { Section, TabPage } from '../../../components/page.tsx';
import { EmptyState, Loaded } from '../../../components/states.tsx';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { OwnPages } from './own-pages.tsx';
import { PortRow } from './port-row.tsx';
import { portDraft, PublishDialog } from './publish-dialog.tsx';
import { portsQuery } from './queries.ts';

export function PortsPage() {
  const agent = useAgent();
  const mayChange = useMay('agents:write');
  const ports = useQuery({ ...portsQuery(agent.id), enabled: mayChange });
  const [publishing, setPublishing] = useOpen(portDraft(agent.id));
  const publish = mayChange && (
    <Button variant="primary" onClick={() => setPublishing(true)}>
      <Plus aria-hidden className="size-4" />
      Publish a port
    </Button>
  );
  return (
    <TabPage
      title="Ports"
      description="Servers in the agent’s machine that have an address of their own."
      actions={publish}
    >
      <OwnPages agent={agent} mayChange={mayChange} />
      <Section title="Published ports">
        {mayChange ? (
          <Loaded query={ports}>
            {(data) =>
              data.length === 0 ? (
                <EmptyState Icon={EthernetPort} title="No port is published" action={publish}>
                  When the agent runs a web server, publish its port to open it in a browser.
                </EmptyState>
              ) : (
                <ul aria-label="Published ports" className="divide-y divide-line">
                  {data.map((port) => (
                    <PortRow key={port.port} agentId={agent.id} port={port} mayChange={mayChange} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        ) : (
          <EmptyState Icon={Lock} title="Members and the owner see the ports">
            As a viewer you read everything else of this agent. An address of its machine can let people in, so it is
            shown to those who may change the agent.
          </EmptyState>
        )}
      </Section>
      {publishing && <PublishDialog agentId={agent.id} onClose={() => setPublishing(false)} />}
    </TabPage>
  );
}
