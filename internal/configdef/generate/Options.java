import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Writes the options of brokers and topics, as the classes of the Kafka on the
 * class path define them, to a file of JSON. A validator that it does not know is
 * an error: nobody would notice that its values are not checked any more.
 */
public class Options {
    static final ObjectMapper JSON = new ObjectMapper();

    /** Arguments: options or try, a file of values to try, the file to write. */
    public static void main(String[] args) throws Exception {
        Object result = args[0].equals("try") ? tryAll(JSON.readValue(new File(args[1]), String[].class)) : options();
        JSON.writeValue(new File(args[2]), result);
    }

    static Map<String, Object> options() throws Exception {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("metadataVersions", metadataVersions());
        all.put("oldestLevel", oldestLevel());
        all.put("topic", topic());
        all.put("broker", broker());
        return all;
    }

    /** What Kafka makes of each value of each option. */
    static List<Map<String, Object>> tryAll(String[] values) {
        List<Map<String, Object>> readings = new ArrayList<>();
        for (ConfigDef.ConfigKey key : LogConfig.configKeys().values())
            for (String value : values)
                readings.add(reading("topic", key, value));
        for (ConfigDef.ConfigKey key : AbstractKafkaConfig.CONFIG_DEF.configKeys().values())
            for (String value : values)
                readings.add(reading("broker", key, value));
        return readings;
    }

    static Map<String, Object> reading(String scope, ConfigDef.ConfigKey key, String value) {
        Map<String, Object> r = new LinkedHashMap<>();
        r.put("scope", scope);
        r.put("option", key.name);
        r.put("value", value);
        try {
            Object parsed = ConfigDef.parseType(key.name, value, key.type);
            r.put("parsed", true);
            r.put("shown", ConfigDef.convertToString(parsed, key.type));
            r.put("accepted", key.validator == null || accepts(key, parsed));
        } catch (ConfigException e) {
            r.put("parsed", false);
        }
        return r;
    }

    /** Metadata versions from the oldest that this Kafka runs at to its newest for production. */
    static List<String> metadataVersions() {
        List<String> names = new ArrayList<>();
        for (MetadataVersion v : MetadataVersion.values())
            if (v.compareTo(MetadataVersion.latestProduction()) <= 0)
                names.add(v.version());
        return names;
    }

    /** The feature level of the oldest metadata version; that of each other is one above the one before it. */
    static int oldestLevel() {
        int oldest = MetadataVersion.values()[0].featureLevel();
        for (MetadataVersion v : MetadataVersion.values())
            if (v.featureLevel() != oldest + v.ordinal())
                throw new IllegalStateException("metadata version " + v.version() + " has feature level " + v.featureLevel()
                    + ", which is not one above the one before it: store every level");
        return oldest;
    }

    static Collection<Map<String, Object>> topic() throws Exception {
        Map<String, Map<String, Object>> options = new TreeMap<>();
        for (ConfigDef.ConfigKey key : LogConfig.configKeys().values())
            options.put(key.name, option(key));
        return options.values();
    }

    static Collection<Map<String, Object>> broker() throws Exception {
        Map<String, Map<String, Object>> options = new TreeMap<>();
        Map<?, ?> modes = updateModes();
        for (ConfigDef.ConfigKey key : AbstractKafkaConfig.CONFIG_DEF.configKeys().values()) {
            Map<String, Object> option = option(key);
            Object mode = modes.get(key.name);
            if (mode != null)
                option.put("update", mode);
            options.put(key.name, option);
        }
        // Quotas of replication are no part of a broker's file.
        for (ConfigDef.ConfigKey key : QuotaConfig.brokerQuotaConfigs().configKeys().values()) {
            Map<String, Object> option = option(key);
            option.put("update", "dynamic-only");
            options.putIfAbsent(key.name, option);
        }
        return options.values();
    }

    /** Which options can change at run time: the class moved from Scala to Java with 4.3. */
    static Map<?, ?> updateModes() throws Exception {
        String method = "dynamicConfigUpdateModes";
        try {
            return (Map<?, ?>) Class.forName("org.apache.kafka.server.config.DynamicBrokerConfig").getMethod(method).invoke(null);
        } catch (ClassNotFoundException e) {
            Class<?> scala = Class.forName("kafka.server.DynamicBrokerConfig$");
            return (Map<?, ?>) scala.getMethod(method).invoke(scala.getField("MODULE$").get(null));
        }
    }

    static Map<String, Object> option(ConfigDef.ConfigKey key) throws Exception {
        Map<String, Object> option = new LinkedHashMap<>();
        option.put("name", key.name);
        option.put("type", key.type.name());
        if (key.hasDefault() && key.defaultValue != null && key.type != ConfigDef.Type.PASSWORD)
            option.put("default", ConfigDef.convertToString(key.defaultValue, key.type));
        if (key.internalConfig)
            option.put("internal", true);
        if (key.documentation != null && key.documentation.matches("(?s).*\\bThis config(uration)? (is|has been) deprecated\\b.*"))
            option.put("deprecated", true);
        if (key.validator != null)
            validator(option, key);
        return option;
    }

    static void validator(Map<String, Object> option, ConfigDef.ConfigKey key) throws Exception {
        ConfigDef.Validator v = key.validator;
        switch (v.getClass().getSimpleName()) {
            case "Range" -> {
                putNumber(option, "min", field(v, "min"));
                putNumber(option, "max", field(v, "max"));
            }
            case "ValidString" -> option.put("values", field(v, "validStrings"));
            case "CaseInsensitiveValidString" -> {
                option.put("values", ((Collection<?>) field(v, "validStrings")).stream().map(Object::toString).sorted().toList());
                option.put("ignoreCase", true);
            }
            case "ValidList" -> validList(option, key);
            case "LambdaValidator" -> {
                if (key.type != ConfigDef.Type.INT)
                    throw unknown(key);
                option.put("values", accepted(key));
            }
            case "ThrottledReplicaListValidator" -> option.put("form", "throttled-replicas");
            case "NonEmptyString" -> option.put("notEmpty", true);
            case "NonNullValidator" -> { }
            // Both need the other options to be judged.
            case "ControllerQuorumVotersValidator", "ControllerQuorumBootstrapServersValidator" -> { }
            default -> throw unknown(key);
        }
    }

    /** What a list may hold differs between versions, beyond what its fields say: ask. */
    static void validList(Map<String, Object> option, ConfigDef.ConfigKey key) throws Exception {
        List<?> values = (List<?>) field(field(key.validator, "validString"), "validStrings");
        if (!values.isEmpty())
            option.put("values", values);
        Object one = values.isEmpty() ? "a" : values.get(0);
        if (!accepts(key, List.of(one)))
            throw unknown(key);
        if (!accepts(key, List.of()))
            option.put("notEmpty", true);
        if (!accepts(key, List.of(one, one)))
            option.put("unique", true);
        if (values.isEmpty() && !accepts(key, List.of("")))
            option.put("noEmptyItem", true);
    }

    /** The few numbers that an opaque check lets through. */
    static List<String> accepted(ConfigDef.ConfigKey key) {
        List<String> numbers = new ArrayList<>();
        for (int n = -1000; n <= 1000; n++)
            if (accepts(key, n))
                numbers.add(Integer.toString(n));
        if (numbers.isEmpty() || numbers.size() > 100 || accepts(key, Integer.MIN_VALUE) || accepts(key, Integer.MAX_VALUE))
            throw unknown(key);
        return numbers;
    }

    static boolean accepts(ConfigDef.ConfigKey key, Object value) {
        try {
            key.validator.ensureValid(key.name, value);
            return true;
        } catch (ConfigException e) {
            return false;
        }
    }

    static void putNumber(Map<String, Object> option, String name, Object number) {
        if (number != null)
            option.put(name, number.toString());
    }

    static Object field(Object of, String name) throws Exception {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    static IllegalStateException unknown(ConfigDef.ConfigKey key) {
        return new IllegalStateException("option " + key.name + " has a validator that this program does not know ("
            + key.validator.getClass().getName() + ": " + key.validator + "): teach it here and in Option.Check");
    }
}
