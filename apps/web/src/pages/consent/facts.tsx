import type { ReactNode } from 'react';

/** Facts about who asks, as a list of names and values. Values that others wrote stand in quotes. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-[max-content_1fr]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted max-sm:-mb-3">{name}</dt>
          <dd className="min-w-0 font-medium wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A stranger's text, isolated from the direction of the text around it. */
export function Quoted({ children }: { children: string }) {
  return (
    <>
      “<bdi>{children}</bdi>”
    </>
  );
}
