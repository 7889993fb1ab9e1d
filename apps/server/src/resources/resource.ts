/** A resource of the API. In the other rooms it has a part of its own: errors and events in the domain, tables in the store. */
import type { Agents } from '@lodge/engine';
import type { Cryptography, SecretBox } from '@lodge/ports';
import type { Database } from '@lodge/store/database';

/** Everything that the use-cases of resources are made of. Each takes its needs. */
export interface Core {
  readonly database: Database;
  readonly agents: Agents;
  readonly secrets: SecretBox;
  readonly cryptography: Cryptography;
}

/** `open` makes the use-cases and begins nothing. The routes get them by the resource's name, beside the needs that they name. */
export interface Resource {
  open(core: Core): object;
  readonly routes: readonly object[];
}
