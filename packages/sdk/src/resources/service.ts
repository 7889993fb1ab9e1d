import type { Pages } from '../http/page.ts';
import type { CallOptions } from '../options.ts';
import type { Health, Host, Limits, ProviderList, SizeList } from '../types.ts';
import { Resource } from './resource.ts';

/** The offers and limits of this deployment. */
export class Service extends Resource {
  sizes(options?: CallOptions): Pages<SizeList> {
    return this.pagesOf('/sizes', options);
  }

  providers(options?: CallOptions): Pages<ProviderList> {
    return this.pagesOf('/providers', options);
  }

  /** Limits, and what of them is used. */
  limits(options?: CallOptions): Promise<Limits> {
    return this.getJson('/limits', options);
  }

  /** The state of the machine; for a key of an owner's. */
  host(options?: CallOptions): Promise<Host> {
    return this.getJson('/host', options);
  }

  health(options?: CallOptions): Promise<Health> {
    return this.getJson('/health', options);
  }

  /** The OpenAPI document of the service. */
  openApi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.getJson('/openapi.json', options);
  }
}
