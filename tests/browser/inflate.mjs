// Prints the path of the browser in the package; inflates it into TMPDIR first.
import { createRequire } from "node:module";
import { join } from "node:path";

process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs20.x"; // the libraries of the package too
const need = createRequire(join(process.argv[2], "x.js"));
process.stdout.write(await need("@sparticuz/chromium").executablePath());
