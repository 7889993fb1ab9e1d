import type { RuntimeFacts } from '@lodge/ports';

/** The facts of a Hermes template that the host stores. */
export interface HermesFacts {
  /** The gateway's key, 64 hexadecimal digits from the host's random source. It gives full power over the guest. */
  readonly token: string;
  /** Whether its guests are configured to pass pictures to the model. */
  readonly pictures: boolean;
}

export function readFacts({ token, pictures = false }: RuntimeFacts): HermesFacts {
  if (typeof token !== 'string') throw new TypeError('the facts of this template are not those of a Hermes template');
  return { token, pictures: pictures === true };
}
