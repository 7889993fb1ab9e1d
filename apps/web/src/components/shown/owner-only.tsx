import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../states.tsx';
import { Card } from './loaded-card.tsx';

/** Stands in place of a page for whoever is not the owner of this Lodge. */
export function OwnerOnly({ children }: { readonly children: ReactNode }) {
  return (
    <Card>
      <EmptyState Icon={Lock} title="For the owner">
        {children}
      </EmptyState>
    </Card>
  );
}
