import type { Pages } from '../http/page.ts';
import type { CallOptions } from '../options.ts';
import type { Health, Limits, ProviderList, SizeList } from '../types.ts';
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

  health(options?: CallOptions): Promise<Health> {
    return this.getJson('/health', options);
  }

  /** The OpenAPI document of the service. */
  openApi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.getJson('/openapi.json', options);
  }
}
